import { readFileSync } from 'node:fs';
import type { Bill, Row } from './readBill.ts';

/**
 * The page, which loads nothing.
 * @param model dollars a million requests by the model, or why they are not known
 * @param region that of the model
 */
export function renderPage(stage: string, bill: Bill, model: number | string, region: string) {
  const style = readFileSync(new URL('page.css', import.meta.url), 'utf8');
  const title = toHtml(`${stage}, ${bill.months.name}`);
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
${renderUnusualDays(bill)}
${renderDays(bill)}
${bill.places.length > 1 ? renderSection('By account and region', renderTable(bill.places)) : ''}
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
  const table = renderTable([...paid, { charge: 'paid', dollars: sumDollars(paid) }]);
  const hasList = paid.some(({ list }) => list !== null);
  const about = hasList ? '' : '<p>The bill has no list prices.</p>';
  return renderSection('What was paid', `${table}${about}`);
}

function renderRequests(bill: Bill, model: number | string, stage: string, region: string): string {
  const { requests, dollars, list, calls, dollars_of_calls } = bill.requests;
  const isKnown = typeof model === 'number';
  const table = renderTable([
    { source: 'By this bill', dollars_a_million: dollars },
    { source: "At the bill's list prices", dollars_a_million: list },
    {
      source: `By the model${region && `, in ${region}`}`,
      dollars_a_million: isKnown ? model : null,
    },
  ]);
  const ofModel = isKnown
    ? `The model's figure is the month's total of npx petstore costs --stage ${stage} --requests ${Math.round(Number(requests))}, divided by its millions of requests.`
    : model;
  const ofCalls =
    calls === null
      ? 'The lines do not name functions, so the cost of adjustInventory is not known. Include resource ids in the export.'
      : `A thousand calls of adjustInventory cost $${toShort(dollars_of_calls)} in Lambda, for ${toCount(calls)} calls. What it costs in the gateway and the tables is not known: their lines do not name operations.`;
  const about = `Usage of ${toCount(requests)} requests, without credits, refunds, tax and fees. ${ofCalls} ${toHtml(ofModel)}`;
  return renderSection('A million requests', `${table}<p>${about}</p>`);
}

function renderKinds({ kinds, places }: Bill): string {
  const hasRegions = new Set(places.map(({ region }) => region)).size > 1;
  const rows = kinds.map(({ region, ...row }) =>
    hasRegions ? { ...row, kind: `${row.kind}, ${region}` } : row,
  );
  return renderSection('By kind of usage', renderTable(rows));
}

function renderUnusualDays({ unusualDays, days }: Bill): string {
  const none = days.length > 0 ? 'None.' : 'The bill has no lines of single days.';
  const about =
    'An unusual day differs from the median of up to 14 days before it by more than 20 %, 50 cents, and five times their median deviation. Unusual days in a row are one row, with their averages, the median before the first, and the average of the days after the last. A change that stays is listed for about a week. The first six days of the files have too few before them.';
  const table = unusualDays.length > 0 ? renderTable(unusualDays) : `<p>${none}</p>`;
  return renderSection('Unusual days', `${table}<p><small>${about}</small></p>`);
}

/** A column for each day of the month, in percentages of any width. */
function renderDays({ days, paid }: Bill): string {
  if (days.length === 0) return '';
  const top = Math.max(...days.map(({ dollars }) => Number(dollars)), 0.01);
  const columns = days.map(({ number, day, dollars, is_unusual }) => {
    const height = (Math.max(0, Number(dollars)) / top) * 100;
    const left = (((Number(number) - 1) / 31) * 100).toFixed(2);
    const name = Number(number) % 7 === 1 ? `<text x="${left}%" y="126">${number}</text>` : '';
    return `<rect${is_unusual ? ' class="unusual"' : ''} x="${left}%" width="2.6%" y="${(110 - height).toFixed(1)}" height="${height.toFixed(1)}"><title>${day}: ${toDollars(dollars)}</title></rect>${name}`;
  });
  const label = `Dollars of each day's usage, at most ${toDollars(top)}`;
  const chart = `<svg height="130" role="img" aria-label="${label}">${columns.join('')}</svg>`;
  const usage = paid.find(({ charge }) => charge === 'usage')?.dollars ?? 0;
  const rest = Number(usage) - sumDollars(days);
  const ofMonth =
    Math.abs(rest) >= 0.005
      ? ` ${toDollars(rest)} of usage is in lines of more than a day or of another month, and not in the chart.`
      : '';
  const about = `${label}. Unusual days have another colour.${ofMonth}`;
  return renderSection('By day', `${chart}<p><small>${about}</small></p>`);
}

const renderSection = (title: string, content: string) =>
  `<section><h2>${title}</h2>${content}</section>`;

type Cell = Row[string];
export const sumDollars = (rows: readonly Row[]) =>
  rows.reduce((all, { dollars }) => all + Number(dollars), 0);

const inDollars = { style: 'currency', currency: 'USD', signDisplay: 'negative' } as const;
/** Such as `−$3.00`. */
export const toDollars = (dollars: Cell) =>
  Number(dollars).toLocaleString('en-US', inDollars).replace('-', '−');
const toShort = (amount: Cell) =>
  Number(amount).toLocaleString('en-US', { maximumSignificantDigits: 4 });
/** Of a unit, or of a million if that is too little to read. */
function toPrice(dollars: Cell) {
  const amount = Number(dollars);
  if (Math.abs(amount) >= 1) return toDollars(amount);
  const isSmall = amount !== 0 && Math.abs(amount) < 0.001;
  return isSmall ? `$${toShort(amount * 1e6)} a million` : `$${toShort(amount)}`;
}
const toCount = (count: Cell) =>
  Number(count).toLocaleString('en-US', { maximumFractionDigits: Number(count) < 100 ? 2 : 0 });
const toHtml = (text: Cell) => `${text}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The columns of all tables in their order, by their names in bill.sql: their headings, and how values read. */
const columns: Readonly<Record<string, readonly [heading: string, toText: typeof toHtml]>> = {
  source: ['Source', toHtml],
  charge: ['Charge', toHtml],
  days: ['Days', toHtml],
  kind: ['Kind', toHtml],
  account: ['Account', toHtml],
  region: ['Region', toHtml],
  quantity: ['Quantity', toCount],
  dollars: ['Dollars', toDollars],
  usual_dollars: ['Usual dollars', toDollars],
  dollars_after: ['Dollars after', toDollars],
  list: ['At list prices', toDollars],
  dollars_a_unit: ['A unit', toPrice],
  model: ["Model's price", toPrice],
  dollars_before: ['The month before', toDollars],
  a_request: ['Quantity a request', toShort],
  usual_a_request: ['Usual quantity', toShort],
  dollars_a_million: ['Dollars a million', toPrice],
};

const isGiven = (cell: Cell) => cell !== undefined && cell !== null && cell !== '';

/** Without columns that are empty. */
function renderTable(rows: readonly Row[]): string {
  const shown = Object.entries(columns).filter(([name]) => rows.some((row) => isGiven(row[name])));
  const headings = shown.map(([, [heading]]) => `<th>${heading}</th>`);
  const body = rows.map((row) => {
    const cells = shown.map(([name, [, toText]]) => (isGiven(row[name]) ? toText(row[name]) : '–'));
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<table><thead><tr>${headings.join('')}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
}
