import { readFileSync } from 'node:fs';
import { sumOf, toCents } from '../bills/usage.ts';
import { drawBars, drawBridge, drawDays, drawRange } from './charts.ts';
import { capitalize, isListed, toDate, toDollars, toMonthName, toPercent } from './judgeMonth.ts';
import type { Report } from './report.ts';

const style = readFileSync(new URL('page.css', import.meta.url), 'utf8');

/** The page, which loads nothing. @param unread why the logs could not be read, in one line */
export function renderPage(report: Report, unread: string): string {
  const { stage, month, verdict } = report;
  const title = toHtml(`${stage}, ${toMonthName(month)}`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Costs of ${title}</title>
<style>${style}</style>
<body>
<main>
<header>
<p class="meta">Petstore costs · ${title}</p>
<h1>${toHtml(verdict)}</h1>
<p class="meta">${toHtml(describeOrigin(report))}</p>
</header>
${renderTiles(report)}
${renderBridge(report)}
${renderTraffic(report)}
${renderForecast(report)}
${renderLines(report)}
<div class="pair">
${renderOperations(report)}
${renderCustomers(report, unread)}
</div>
${renderMonths(report)}
${renderNotes(report)}
</main>
</body>
</html>
`;
}

function describeOrigin(report: Report): string {
  const { region, accounts, hasBill, billLines = 0, from, to, pricesAsOf, traffic } = report;
  const place = accounts.length > 0 ? `${region}, account ${accounts.join(' and ')}` : region;
  const source = hasBill ? `a bill of ${toCount(billLines)} lines` : "the stage's logs";
  return `${from} to ${to}, ${place}. Made of ${source}, and of AWS's list prices of ${pricesAsOf}. Traffic: ${traffic.source}.`;
}

function renderTiles({ paid, accepted, sales, forecast, hasBill, causes }: Report): string {
  const { month, expected, band } = forecast;
  const { full, marginal } = sales;
  const ofPaid = hasBill ? ['Paid', 'with credits and tax'] : ['Until now', 'at list prices'];
  const ofBand = band ? `${toDollars(band.from)} to ${toDollars(band.to)}` : 'without a band';
  const ofSales = `of all costs; a thousand more add ${toSmall(marginal)}`;
  const tiles = [
    [ofPaid[0], toDollars(paid), ofPaid[1]],
    ['Accepted for these days', toDollars(accepted), 'at list prices, of infra/costs/traffic.json'],
    ['A thousand sales', toSmall(full), ofSales],
    [`Forecast of ${toMonthName(month)}`, toDollars(expected), ofBand],
  ].map(
    ([name, amount, about]) =>
      `<div><dt>${name}</dt><dd>${amount}<small>${about}</small></dd></div>`,
  );
  const items = causes.map(({ text, dollars }) => {
    const amount = dollars === 0 ? '' : ` <span class="number">(${toSigned(dollars)})</span>`;
    return `<li>${toHtml(capitalize(text))}${amount}.</li>`;
  });
  const others = causes.length > 1 ? `<ul>${items.join('')}</ul>` : '';
  return `<dl class="tiles">${tiles.join('')}</dl>${others}`;
}

function renderBridge({ bridge, paid, hasBill }: Report): string {
  if (!hasBill) return '';
  const bars = drawBridge(bridge.map(({ dollars }) => dollars));
  const steps = bridge.map(({ name, dollars, step }) =>
    step === 'list' ? [`<b>${name}</b>`, toDollars(dollars)] : [name, toSigned(dollars)],
  );
  const rows = [...steps, ['<b>Paid</b>', toDollars(paid)]].map(
    ([name = '', dollars = ''], index) => [name, bars[index] ?? '', dollars],
  );
  return renderSection('From list price to invoice', renderTable(['Step', '', 'Dollars'], rows));
}

function renderTraffic({ traffic }: Report): string {
  const { requests, accepted, days } = traffic;
  const change = accepted > 0 ? requests / accepted - 1 : 0;
  const text = `<p>${toCount(requests)} requests; the accepted month has ${toCount(accepted)} in as many days (${toChange(change)}).</p>`;
  const own = sumOf(days, (day) => day.requests);
  // The gateway's requests of the scheduled check are in the columns too.
  const perDay = (accepted + Math.max(0, own - requests)) / days.length;
  const label = `Requests of each day, ${toCompact(own / days.length)} on average`;
  const key = '<p class="key">Requests a day. The dashed line is the accepted number.</p>';
  const chart = days.length > 1 ? `${drawDays(days, perDay, toCompact, label)}${key}` : '';
  return renderSection('Traffic against the accepted month', text + chart);
}

function renderForecast({ forecast }: Report): string {
  const { month, expected, band, accepted, budget, isWithin, limits } = forecast;
  const ofBand = band
    ? `nine months of ten end between ${toDollars(band.from)} and ${toDollars(band.to)}, if days differ as they did`
    : 'no band, since fewer than five days are known one by one';
  const isBelow = accepted !== undefined && expected <= accepted;
  const against = isWithin ? `within its ${limits} of` : `past its ${limits} above`;
  const ofAccepted =
    accepted === undefined
      ? 'No month was accepted.'
      : `That is ${isBelow ? 'below' : against} the accepted ${toDollars(accepted)}.`;
  const ofBudget = budget === undefined ? ' The stage has no budget.' : '';
  const text = `<p>${toMonthName(month)} will cost ${toDollars(expected)} before credits and tax: ${ofBand}. ${ofAccepted}${ofBudget}</p>`;
  const label = `${toDollars(expected)} expected; ${ofBand}`;
  const toText = (amount: number) => `$${toCents(amount)}`;
  return renderSection(
    'Forecast',
    text + drawRange(expected, band, { accepted, budget }, toText, label),
  );
}

function renderLines({ lines, traffic, hasBill, notOurs, unpriced }: Report): string {
  if (!hasBill) return '';
  const shown = lines.filter(({ list, net }) => Math.max(list, Math.abs(net)) >= 0.005);
  const isSingle = new Set(lines.map((line) => line.region)).size === 1;
  const rows = shown.map((line) => {
    const { kind, name, quantity, listPrice, billedPrice, net, freeQuantity, region } = line;
    const use = traffic.usage.find((one) => one.kind === kind);
    const [price, unit] = toUnitPrice(listPrice);
    const own = billedPrice === undefined ? 'free' : toUnitPrice(billedPrice, unit)[0];
    const free = freeQuantity > 0 && own !== 'free' ? [`${toCount(freeQuantity)} free`] : [];
    const about = [...(isSingle ? [] : [region]), ...free].join(', ');
    return [
      `${toHtml(capitalize(name))}${about && `<small>${toHtml(about)}</small>`}`,
      toDollars(net),
      isListed(line) ? own : `<b class="wrong">${own}</b>`,
      `${price}<small>${unit}</small>`,
      toCount(quantity),
      use && use.accepted > 0 ? toChange(use.used / use.accepted - 1) : '–',
    ];
  });
  const checked = lines.filter(isListed);
  const wrong = lines.length - checked.length;
  const unknown = [...notOurs, ...unpriced].map(
    ({ name, region, dollars }) =>
      `${name}${region ? ` in ${region}` : ''} (${toDollars(dollars)})`,
  );
  const paid = toDollars(sumOf(checked, ({ net }) => net));
  const sentences = [
    `The price agrees with AWS's list for ${checked.length} of ${lines.length} lines, ${paid} of what was paid.`,
    ...(wrong > 0 ? [`${wrong} ${wrong === 1 ? 'differs' : 'differ'}.`] : []),
    ...(unknown.length > 0 ? [`Not checked: ${unknown.join(', ')}.`] : []),
  ];
  const text = `<p>${toHtml(sentences.join(' '))}</p>`;
  const small = lines.length - shown.length;
  const rest = small > 0 ? `<p class="key">${small} lines below half a cent are left out.</p>` : '';
  const head = ['What was used', 'Paid', 'Billed price', 'List price', 'Quantity', 'To accepted'];
  return renderSection(
    'Prices against the list, use against the accepted month',
    text + renderTable(head, rows, 'lines') + rest,
  );
}

function renderOperations({ operations }: Report): string {
  const rows = operations.map(({ operationId, requests, dollars, dollarsPerMillion }): Bar => {
    const about = `${toCompact(requests)} at $${toCents(dollarsPerMillion)} a million`;
    return [operationId, about, dollars, toDollars(dollars)];
  });
  return renderBars('By operation', 'Operation', rows);
}

function renderCustomers({ customers }: Report, unread: string): string {
  if (customers.length === 0) {
    const cause = `The stage's logs could not be read. ${unread}`;
    const why = unread === '' ? 'The logs have no requests.' : cause;
    return renderSection('By customer', `<p class="key">${toHtml(why)}</p>`);
  }
  const rows = customers.map(({ key, requests, total, perThousandSales }): Bar => {
    const ofSales =
      perThousandSales === undefined ? '' : `, ${toSmall(perThousandSales)} a thousand sales`;
    return [key, `${toCompact(requests)} requests${ofSales}`, total, toDollars(total)];
  });
  return renderBars('By customer, with its part of the fixed costs', 'API key', rows);
}

function renderMonths({ months }: Report): string {
  if (months.length < 2) return '';
  const rows = months.map(({ month, paid, sales, perThousandSales }): Bar => {
    const about = `${toDollars(paid)}, ${toCompact(sales)} sales`;
    return [toMonthName(month), about, perThousandSales ?? 0, toSmall(perThousandSales)];
  });
  return renderBars('Cost of a thousand sales by month', 'Month', rows);
}

function renderNotes(report: Report): string {
  const { untagged, shared, tags, region, hasBill, to, isRunning, priceNote } = report;
  const ofBill = [
    `Lines count with the tags service "${tags.service}" and stage "${tags.stage}". Tax, credits, refunds, discounts, traces, custom metrics and queries of logs without tags are shared by list cost: among what the same account used of the same usage type, or else of the same service, or else of all. ${toDollars(shared)} here come from such lines. Fees without tags are left out.`,
    Math.abs(untagged) >= 0.005 &&
      `${toDollars(untagged)} of services like ours have no tags and are left out: they may be of others, or from before the tags were activated.`,
    `Each line is compared with the list of its own region. The price of any step of the list agrees, since steps count all accounts of an organization. What was billed with $0 is free tier as far as AWS's allowance goes.`,
  ];
  const ofLogs = [
    `Costs are the use in the logs at the list prices of ${region}, without free tier, discounts, credits and tax.`,
  ];
  const notes = [
    ...(hasBill ? ofBill : ofLogs),
    "A sale is an adjustment with status 200, so returns count too. Costs by operation are the model's, without what is fixed.",
    priceNote,
    isRunning && `The month is not over: all is until ${toDate(to)}.`,
  ].flatMap((note) => (note ? [`<li>${toHtml(note)}</li>`] : []));
  return renderSection('How these figures are made', `<ul>${notes.join('')}</ul>`, 'notes');
}

const renderSection = (title: string, content: string, kind = '') =>
  `<section${kind && ` class="${kind}"`}><h2>${toHtml(title)}</h2>${content}</section>`;

type Bar = readonly [name: string, about: string, amount: number, text: string];

function renderBars(title: string, column: string, bars: readonly Bar[]): string {
  const drawn = drawBars(bars.map(([, , amount]) => amount));
  const rows = bars.map(([name, about, , text], index) => [
    `${toHtml(name)}<small>${about}</small>`,
    drawn[index] ?? '',
    text,
  ]);
  return renderSection(title, renderTable([column, '', 'Dollars'], rows));
}

/** The first column is text, a second without a title is a chart, and the others are numbers. */
function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  kind = '',
): string {
  const kinds = head.map((title) => ` class="${title === '' ? 'figure' : 'number'}"`);
  const titles = head.map((title, index) =>
    title === '' ? '<td></td>' : `<th scope="col"${index > 0 ? kinds[index] : ''}>${title}</th>`,
  );
  const cells = rows.map(([first, ...others]) => {
    const own = others.map((cell, index) => `<td${kinds[index + 1]}>${cell}</td>`);
    return `<tr><th scope="row">${first}</th>${own.join('')}</tr>`;
  });
  return `<div class="scroll" tabindex="0" role="group" aria-label="${head[0]}"><table${kind && ` class="${kind}"`}><thead><tr>${titles.join('')}</tr></thead><tbody>${cells.join('')}</tbody></table></div>`;
}

/** A price of a unit, or of a million where that is below a tenth of a cent. */
function toUnitPrice(price: number, unit = price < 0.001 ? 'a million' : 'each') {
  const amount = unit === 'a million' ? price * 1e6 : price;
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 4 };
  return [`$${amount.toLocaleString('en-US', digits)}`, unit] as const;
}

/** What a thousand sales cost is cents. */
const toSmall = (dollars: number | undefined) =>
  dollars === undefined ? '–' : dollars < 1 ? `$${dollars.toFixed(4)}` : toDollars(dollars);
const toSigned = (dollars: number) => `${dollars > 0 ? '+' : ''}${toDollars(dollars)}`;
/** Such as `+4.7 %`. */
const toChange = (share: number) => `${share >= 0 ? '+' : '−'}${toPercent(100 * Math.abs(share))}`;
const toCount = (count: number) =>
  count.toLocaleString('en-US', { maximumFractionDigits: count < 100 ? 2 : 0 });
const compact = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 3,
});
const toCompact = (count: number) => compact.format(count);
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const toHtml = (text: string) => text.replaceAll(/[&<>"]/g, (one) => entities[one] ?? one);
