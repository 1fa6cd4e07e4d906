import { readFileSync } from 'node:fs';
import type { Bill, Row } from './readBill.ts';

/**
 * The page, which loads nothing.
 * @param model dollars a million requests by the model, or why they are not known
 * @param region that of the model
 */
export function renderPage(stage: string, bill: Bill, model: number | string, region: string) {
  const style = readFileSync(new URL('page.css', import.meta.url), 'utf8');
  const title = toHtml(`${stage}, ${toMonthName(bill.months.month)}`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Bill of ${title}</title>
<style>${style}</style>
<body>
<main>
<h1>${title}: ${toDollars(sumDollars(bill.paid))} paid</h1>
${renderDoubts(bill)}
${renderSum(bill)}
${renderRequests(bill, model, stage, region)}
${renderKinds(bill)}
${renderOddDays(bill)}
${renderDays(bill)}
${renderPlaces(bill)}
<p><small>Made by infra/costs/bill.sql of ${toHtml(bill.files.join(', '))}, with lines of ${bill.months.months}. Days are in UTC.</small></p>
</main>
</body>
</html>
`;
}

function renderDoubts({ doubts }: Bill): string {
  const items = doubts.map(({ doubt, dollars }) => {
    const amount = dollars === null ? '' : `<b>${toDollars(dollars)}</b> `;
    return `<li>${amount}${toHtml(doubt)}`;
  });
  const none = '<p>Nothing that this page looks for.</p>';
  const list = items.length > 0 ? `<ul>${items.join('\n')}</ul>` : none;
  return renderSection('What makes the sum doubtful', list);
}

function renderSum({ paid }: Bill): string {
  const list = paid.find(({ charge }) => charge === 'usage')?.list ?? null;
  const rows = [...paid, { charge: 'paid', dollars: sumDollars(paid) }];
  const cells = rows.map(({ charge, dollars }) => [charge, toDollars(dollars)]);
  const ofList =
    list === null
      ? 'The bill has no list prices.'
      : `At AWS's list prices, the usage is ${toDollars(list)}.`;
  return renderSection(
    'What was paid',
    `${renderTable(['Charge', 'Dollars'], cells)}<p>${ofList}</p>`,
  );
}

function renderRequests(bill: Bill, model: number | string, stage: string, region: string): string {
  const { requests, dollars, list, calls, dollars_of_calls } = bill.requests;
  const isKnown = typeof model === 'number';
  const rows = [
    ['By this bill', toPrice(dollars)],
    ["At the bill's list prices", toPrice(list)],
    [region ? `By the model, in ${region}` : 'By the model', isKnown ? toDollars(model) : null],
  ];
  const ofModel = isKnown
    ? `The model's figure is the month's total of npx petstore costs --stage ${stage} --requests ${Math.round(Number(requests))}, divided by its millions of requests.`
    : model;
  const ofCalls =
    calls === null
      ? 'The lines do not name functions, so the cost of adjustInventory is not known. Include resource ids in the export.'
      : `A thousand calls of adjustInventory cost $${toShort(dollars_of_calls)} in Lambda, for ${toCount(calls)} calls. What it costs in the gateway and the tables is not known: their lines do not name operations.`;
  const about = `Usage without credits, refunds, tax and fees. ${ofCalls} ${toHtml(ofModel)}`;
  const table = renderTable([`${toCount(requests)} requests`, 'Dollars a million'], rows);
  return renderSection('A million requests', `${table}<p>${about}</p>`);
}

function renderKinds({ kinds, places, months }: Bill): string {
  const hasRegions = new Set(places.map(({ region }) => region)).size > 1;
  const hasBefore = kinds.some(({ dollars_before }) => dollars_before !== null);
  const before = hasBefore ? [toMonthName(months.before)] : [];
  const header = ['Kind', 'Quantity', 'Dollars', 'A unit', "Model's price", ...before];
  const rows = kinds.map((row) => [
    hasRegions ? `${row.kind}, ${row.region}` : row.kind,
    toCount(row.quantity),
    toDollars(row.dollars),
    toPrice(row.dollars_a_unit),
    toPrice(row.model),
    ...before.map(() => toDollars(row.dollars_before)),
  ]);
  return renderSection('By kind of usage', renderTable(header, rows));
}

function renderOddDays({ oddDays, days }: Bill): string {
  if (days.length === 0) {
    const none = 'The bill has no days: its lines are of the whole month, or there are none.';
    return renderSection('Odd days', `<p>${none}</p>`);
  }
  const rows = oddDays.map((row) => [
    row.first === row.last ? toDate(row.first) : `${toDate(row.first)} to ${toDate(row.last)}`,
    row.kind,
    `${toDollars(row.dollars)}, before ${toDollars(row.usual_dollars)}`,
    row.a_request === null
      ? null
      : `${toShort(row.a_request)}, before ${toShort(row.usual_a_request)}`,
  ]);
  const header = ['Days', 'Kind', 'Dollars a day', 'Quantity a request'];
  const about =
    'An odd day differs from the median of up to 14 days before it by more than 20 %, 50 cents, and five times their median deviation. Days right after it are listed with it while they differ as much from the days before the first one. What several days have is their average. The first six days of the files have too few before them.';
  const table = rows.length > 0 ? renderTable(header, rows) : '<p>None.</p>';
  return renderSection('Odd days', `${table}<p><small>${about}</small></p>`);
}

/** A column for each day of the month, in percentages of any width. */
function renderDays({ days, oddDays, paid }: Bill): string {
  if (days.length === 0) return '';
  const top = Math.max(...days.map(({ dollars }) => Number(dollars)), 0.01);
  const columns = days.map(({ day, dollars }) => {
    const isOdd = oddDays.some(
      ({ first, last }) => `${first}` <= `${day}` && `${day}` <= `${last}`,
    );
    const height = (Math.max(0, Number(dollars)) / top) * 100;
    const number = Number(`${day}`.slice(8));
    const left = ((number - 1) / 31) * 100;
    const name = number % 7 === 1 ? `<text x="${left.toFixed(2)}%" y="126">${number}</text>` : '';
    return `<rect${isOdd ? ' class="odd"' : ''} x="${left.toFixed(2)}%" width="2.6%" y="${(110 - height).toFixed(1)}" height="${height.toFixed(1)}"><title>${toDate(day)}: ${toDollars(dollars)}</title></rect>${name}`;
  });
  const label = `Dollars of each day's usage, at most ${toDollars(top)}`;
  const chart = `<svg height="130" role="img" aria-label="${label}">${columns.join('')}</svg>`;
  const usage = paid.find(({ charge }) => charge === 'usage')?.dollars ?? 0;
  const rest = Number(usage) - sumDollars(days);
  const ofMonth =
    Math.abs(rest) >= 0.005
      ? ` ${toDollars(rest)} of usage is in lines of more than a day or of another month, and not in the chart.`
      : '';
  const about = `${label}. Odd days have another colour.${ofMonth}`;
  return renderSection('By day', `${chart}<p><small>${about}</small></p>`);
}

function renderPlaces({ places }: Bill): string {
  if (places.length < 2) return '';
  const rows = places.map(({ account, region, dollars }) => [account, region, toDollars(dollars)]);
  const table = renderTable(['Account', 'Region', 'Dollars'], rows);
  return renderSection('By account and region', table);
}

const renderSection = (title: string, content: string) =>
  `<section><h2>${title}</h2>${content}</section>`;

function renderTable(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const toRow = (cells: readonly Cell[], tag: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${tag}>${toHtml(cell || '–')}</${tag}>`).join('')}</tr>`;
  const body = rows.map((row) => toRow(row, 'td'));
  return `<table><thead>${toRow(header, 'th')}</thead><tbody>${body.join('\n')}</tbody></table>`;
}

type Cell = Row[string] | undefined;
export const sumDollars = (rows: readonly Row[]) =>
  rows.reduce((all, { dollars }) => all + Number(dollars), 0);

const formatTime = (time: unknown, fields: Intl.DateTimeFormatOptions) =>
  new Date(`${time}`).toLocaleDateString('en-GB', { ...fields, timeZone: 'UTC' });
const toDate = (day: Cell) => formatTime(day, { day: 'numeric', month: 'long' });
/** Such as `November 2026`. */
export const toMonthName = (month: Cell) => formatTime(month, { month: 'long', year: 'numeric' });

const inDollars = { style: 'currency', currency: 'USD', signDisplay: 'negative' } as const;
/** Such as `−$3.00`. */
export const toDollars = (dollars: Cell) =>
  Number(dollars).toLocaleString('en-US', inDollars).replace('-', '−');
const toShort = (amount: Cell) =>
  Number(amount).toLocaleString('en-US', { maximumSignificantDigits: 4 });
/** Of a unit, or of a million if that is too little to read. */
function toPrice(dollars: Cell) {
  if (dollars === null) return null;
  const amount = Number(dollars);
  if (Math.abs(amount) >= 1) return toDollars(amount);
  const isSmall = amount !== 0 && Math.abs(amount) < 0.001;
  return isSmall ? `$${toShort(amount * 1e6)} a million` : `$${toShort(amount)}`;
}
const toCount = (count: Cell) =>
  count === null
    ? null
    : Number(count).toLocaleString('en-US', { maximumFractionDigits: Number(count) < 100 ? 2 : 0 });

const toHtml = (text: Cell) => `${text}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
