import { readFileSync } from 'node:fs';
import { toCents } from '../bills/usage.ts';
import { toBars, toBridge, toColumnChart, toRangeChart } from './charts.ts';
import { capitalize, isListed, toDate, toDollars, toMonthName, toPercent } from './judgeMonth.ts';
import type { Report } from './report.ts';

const style = readFileSync(new URL('page.css', import.meta.url), 'utf8');

/** The page, which loads nothing. @param unread why the logs could not be read, in one line */
export function toPage(report: Report, unread: string): string {
  const { stage, month, verdict } = report;
  const title = `${stage}, ${toMonthName(month)}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Costs of ${toHtml(title)}</title>
<style>${style}</style>
<body>
<main>
<header>
<p class="eyebrow">Petstore costs · ${toHtml(title)}</p>
<h1>${toHtml(verdict)}</h1>
<p class="meta">${toHtml(toOrigin(report))}</p>
</header>
${toTiles(report)}
${toBridgeSection(report)}
${toTrafficSection(report)}
${toForecastSection(report)}
${toLinesSection(report)}
<div class="pair">
${toOperationsSection(report)}
${toCustomersSection(report, unread)}
</div>
${toMonthsSection(report)}
${toNotes(report)}
</main>
</body>
</html>
`;
}

function toOrigin({
  region,
  accounts,
  hasBill,
  billLines = 0,
  from,
  to,
  pricesAsOf,
  traffic,
}: Report) {
  const place = accounts.length > 0 ? `${region}, account ${accounts.join(' and ')}` : region;
  const source = hasBill
    ? `a bill of ${billLines.toLocaleString('en-US')} lines`
    : "the stage's logs";
  return `${capitalize(from)} to ${to}, ${place}. Made of ${source}, and of AWS's list prices of ${pricesAsOf}. Traffic: ${traffic.source}.`;
}

function toTiles({ paid, accepted, sales, forecast, hasBill, causes }: Report): string {
  const { full, marginal } = sales;
  const tiles = [
    [
      hasBill ? 'Paid' : 'Until now',
      toDollars(paid),
      hasBill ? 'with credits and tax' : 'at list prices',
    ],
    ['Accepted for these days', toDollars(accepted), 'at list prices, of infra/costs/traffic.json'],
    ['A thousand sales', toSmall(full), `of all costs; a thousand more add ${toSmall(marginal)}`],
    [
      `Forecast of ${toMonthName(forecast.month)}`,
      toDollars(forecast.expected),
      forecast.band
        ? `${toDollars(forecast.band.from)} to ${toDollars(forecast.band.to)}`
        : 'without a band',
    ],
  ];
  const others =
    causes.length > 1
      ? `<ul class="causes">${causes.map((one) => `<li>${toHtml(capitalize(one.text))}${one.dollars === 0 ? '' : ` <span class="number">(${one.dollars > 0 ? '+' : ''}${toDollars(one.dollars)})</span>`}.</li>`).join('')}</ul>`
      : '';
  const list = tiles.map(
    ([name = '', amount = '', about = '']) =>
      `<div><dt>${toHtml(name)}</dt><dd>${toHtml(amount)}<small>${toHtml(about)}</small></dd></div>`,
  );
  return `<dl class="tiles">${list.join('')}</dl>${others}`;
}

function toBridgeSection({ bridge, paid, hasBill }: Report): string {
  if (!hasBill) return '';
  const bars = toBridge(bridge.map(({ dollars }) => dollars));
  const rows = [...bridge, { step: 'paid', name: 'Paid', dollars: paid }].map(
    ({ name, dollars, step }, index) => [
      step === 'paid' || step === 'list' ? `<b>${name}</b>` : name,
      bars[index] ?? '',
      `${index > 0 && step !== 'paid' && dollars > 0 ? '+' : ''}${toDollars(dollars)}`,
    ],
  );
  return toSection('From list price to invoice', toTable(['Step', '', 'Dollars'], rows, 'bars'));
}

function toTrafficSection({ traffic }: Report): string {
  const { requests, accepted, days } = traffic;
  const percent = accepted > 0 ? 100 * (requests / accepted - 1) : 0;
  const text = `<p>${toCount(requests)} requests; the accepted month has ${toCount(accepted)} in as many days (${percent >= 0 ? '+' : '−'}${toPercent(Math.abs(percent))}).</p>`;
  const perDay = accepted / (days.length || 1);
  const own = days.reduce((sum, one) => sum + one.requests, 0);
  // The gateway's requests of the scheduled check are in the columns too.
  const chart =
    days.length > 1
      ? `${toColumnChart(days, perDay + Math.max(0, own - requests) / days.length, toCompact, `Requests of each day, ${toCompact(own / days.length)} on average`)}<p class="key">Requests a day. The dashed line is the accepted number.</p>`
      : '';
  return toSection('Traffic against the accepted month', text + chart);
}

function toForecastSection({ forecast }: Report): string {
  const { month, expected, band, accepted, budget, isWithin, limits } = forecast;
  const ofBand = band
    ? `nine months of ten end between ${toDollars(band.from)} and ${toDollars(band.to)}, if days differ as they did`
    : 'no band, since fewer than five days are known one by one';
  const ofAccepted =
    accepted === undefined
      ? 'No month was accepted.'
      : expected <= accepted
        ? `That is below the accepted ${toDollars(accepted)}.`
        : isWithin
          ? `That is within its ${limits} of the accepted ${toDollars(accepted)}.`
          : `That is past its ${limits} above the accepted ${toDollars(accepted)}.`;
  const ofBudget = budget === undefined ? ' The stage has no budget.' : '';
  const chart = toRangeChart(
    expected,
    band,
    [
      ['accepted', accepted],
      ['budget', budget],
    ],
    (amount) => `$${toCents(amount)}`,
    `${toDollars(expected)} expected; ${toHtml(ofBand)}`,
  );
  const text = `<p>${toMonthName(month)} will cost ${toDollars(expected)} before credits and tax: ${ofBand}. ${ofAccepted}${ofBudget}</p>`;
  return toSection('Forecast', text + chart);
}

function toLinesSection({ lines, traffic, hasBill, notOurs, unpriced }: Report): string {
  const uses = new Map(traffic.usage.map((one) => [one.kind, one]));
  if (!hasBill) return '';
  const shown = lines.filter(({ list, net }) => Math.max(list, Math.abs(net)) >= 0.005);
  const isSingle = new Set(lines.map((line) => line.region)).size === 1;
  const rows = shown.map((line) => {
    const { kind, name, quantity, listPrice, billedPrice, net, freeQuantity, region } = line;
    const use = uses.get(kind);
    const change = use && use.accepted > 0 ? 100 * (use.used / use.accepted - 1) : undefined;
    const [price, unit] = toUnitPrice(listPrice);
    const [own] = billedPrice === undefined ? ['free'] : toUnitPrice(billedPrice, unit);
    const free =
      freeQuantity > 0 && billedPrice !== undefined ? [`${toCount(freeQuantity)} free`] : [];
    const about = [...(isSingle ? [] : [region]), ...free].join(', ');
    return [
      `${toHtml(capitalize(name))}${about && `<small>${toHtml(about)}</small>`}`,
      toDollars(net),
      isListed(line) ? (own ?? '') : `<b class="wrong">${own}</b>`,
      `${price}<small>${unit}</small>`,
      toCount(quantity),
      change === undefined ? '–' : `${change >= 0 ? '+' : '−'}${toPercent(Math.abs(change))}`,
    ];
  });
  const wrong = lines.filter((line) => !isListed(line));
  const checked = lines.filter(isListed);
  const sum = (all: readonly { readonly net: number }[]) =>
    toDollars(all.reduce((total, one) => total + one.net, 0));
  const unknown = [...notOurs, ...unpriced];
  const ofOthers =
    unknown.length > 0
      ? ` Not checked: ${unknown.map(({ name, region, dollars }) => `${name}${region ? ` in ${region}` : ''} (${toDollars(dollars)})`).join(', ')}.`
      : '';
  const ofWrong =
    wrong.length > 0 ? ` ${wrong.length} ${wrong.length === 1 ? 'differs' : 'differ'}.` : '';
  const text = `<p>${toHtml(`The price agrees with AWS's list for ${checked.length} of ${lines.length} lines, ${sum(checked)} of what was paid.${ofWrong}${ofOthers}`)}</p>`;
  const small = lines.length - shown.length;
  const rest = small > 0 ? `<p class="key">${small} lines below half a cent are left out.</p>` : '';
  const head = ['What was used', 'Paid', 'Billed price', 'List price', 'Quantity', 'To accepted'];
  return toSection(
    'Prices against the list, use against the accepted month',
    text + toTable(head, rows, 'lines') + rest,
  );
}

function toOperationsSection({ operations }: Report): string {
  const bars = toBars(operations.map(({ dollars }) => dollars));
  const rows = operations.map(({ operationId, requests, dollars, dollarsPerMillion }, index) => [
    `${operationId}<small>${toCompact(requests)} at $${toCents(dollarsPerMillion)} a million</small>`,
    bars[index] ?? '',
    toDollars(dollars),
  ]);
  return toSection('By operation', toTable(['Operation', '', 'Dollars'], rows, 'bars'));
}

function toCustomersSection({ customers }: Report, unread: string): string {
  if (customers.length === 0) {
    const why =
      unread === ''
        ? 'The logs have no requests.'
        : `The stage's logs could not be read. ${unread}`;
    return toSection('By customer', `<p class="key">${toHtml(why)}</p>`);
  }
  const bars = toBars(customers.map(({ total }) => total));
  const rows = customers.map(({ key, requests, total, perThousandSales }, index) => [
    `${toHtml(key)}<small>${toCompact(requests)} requests${perThousandSales === undefined ? '' : `, ${toSmall(perThousandSales)} a thousand sales`}</small>`,
    bars[index] ?? '',
    toDollars(total),
  ]);
  return toSection(
    'By customer, with its part of the fixed costs',
    toTable(['API key', '', 'Dollars'], rows, 'bars'),
  );
}

function toMonthsSection({ months }: Report): string {
  if (months.length < 2) return '';
  const bars = toBars(months.map(({ perThousandSales = 0 }) => perThousandSales));
  const rows = months.map(({ month, paid, sales, perThousandSales }, index) => [
    `${toMonthName(month)}<small>${toDollars(paid)}, ${toCompact(sales)} sales</small>`,
    bars[index] ?? '',
    toSmall(perThousandSales),
  ]);
  return toSection(
    'Cost of a thousand sales by month',
    toTable(['Month', '', 'Dollars'], rows, 'bars'),
  );
}

function toNotes({ untagged, shared, tags, region, hasBill, to, isRunning }: Report): string {
  const ofBill = [
    `Lines count with the tags service "${tags.service}" and stage "${tags.stage}". Tax, credits, refunds, discounts, traces, custom metrics and queries of logs without tags are shared by list cost: among what the same account used of the same usage type, or else of the same service, or else of all. ${toDollars(shared)} here come from such lines. Fees without tags are left out.`,
    ...(Math.abs(untagged) >= 0.005
      ? [
          `${toDollars(untagged)} of services like ours have no tags and are left out: they may be of others, or from before the tags were activated.`,
        ]
      : []),
    `Each line is compared with the list of its own region. The price of any step of the list agrees, since steps count all accounts of an organization. What was billed with $0 is free tier as far as AWS's allowance goes.`,
  ];
  const notes = [
    ...(hasBill
      ? ofBill
      : [
          `Costs are the use in the logs at the list prices of ${region}, without free tier, discounts, credits and tax.`,
        ]),
    "A sale is an adjustment with status 200, so returns count too. Costs by operation are the model's, without what is fixed.",
    ...(isRunning ? [`The month is not over: all is until ${toDate(to)}.`] : []),
  ];
  return toSection(
    'How these figures are made',
    `<ul>${notes.map((note) => `<li>${toHtml(note)}</li>`).join('')}</ul>`,
    'notes',
  );
}

const toSection = (title: string, content: string, kind = '') =>
  `<section${kind && ` class="${kind}"`}><h2>${toHtml(title)}</h2>${content}</section>`;

/** The first column is text, a second without a title is a chart, and the others are numbers. */
function toTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  kind: string,
): string {
  const toKind = (index: number) =>
    index === 0 ? '' : head[index] === '' ? ' class="figure"' : ' class="number"';
  const cells = rows.map((row) =>
    row
      .map((cell, index) =>
        index === 0 ? `<th scope="row">${cell}</th>` : `<td${toKind(index)}>${cell}</td>`,
      )
      .join(''),
  );
  const titles = head.map((title, index) =>
    title === '' ? '<td></td>' : `<th scope="col"${toKind(index)}>${title}</th>`,
  );
  return `<div class="scroll" tabindex="0" role="group" aria-label="${head[0]}"><table class="${kind}"><thead><tr>${titles.join('')}</tr></thead><tbody>${cells.map((row) => `<tr>${row}</tr>`).join('')}</tbody></table></div>`;
}

/** A price of a unit, or of a million where that is below a tenth of a cent. */
function toUnitPrice(
  price: number,
  unit = price < 0.001 ? 'a million' : 'each',
): [price: string, unit: string] {
  const amount = unit === 'a million' ? price * 1e6 : price;
  return [
    `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`,
    unit,
  ];
}

/** What a thousand sales cost is cents. */
const toSmall = (dollars: number | undefined) =>
  dollars === undefined ? '–' : dollars < 1 ? `$${dollars.toFixed(4)}` : toDollars(dollars);
const toCount = (count: number) =>
  count.toLocaleString('en-US', { maximumFractionDigits: count < 100 ? 2 : 0 });
const compact = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 3,
});
const toCompact = (count: number) => compact.format(count);
const toHtml = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
