import { toColumns } from '../../cli/output.ts';
import type { CostReport } from '../../costs/bills/costReport.ts';
import type { Month, WorstMonth } from '../../costs/bills/monthlyBill.ts';
import { sumRequests } from '../../costs/bills/traffic.ts';
import { sumDollars, sumOf, toCents } from '../../costs/bills/usage.ts';
import { components, type Dollars, componentLabels as labels } from '../../costs/prices.ts';

export function toOperationsText({ operations, region, pricesAsOf }: CostReport): string {
  const { head, toCells } = defineDollarColumns(operations.map((cost) => cost.components));
  const rows = operations.map(({ operationId, response, entries, components: dollars }) => [
    operationId,
    entries === undefined ? response : `${response} of ${entries.toLocaleString('en-US')}`,
    ...toCells(dollars),
  ]);
  return [
    `Dollars per million requests, ${region}, prices of ${pricesAsOf}; lists by number of entries`,
    toColumns([['operation', 'response', ...head], ...rows]),
  ].join('\n');
}

/** A month's bill by operation and response, with what each change alone would save. */
export function toReportText({ stage, region, pricesAsOf, month, savings }: CostReport): string {
  const title = `A month of ${stage}, ${region}, prices of ${pricesAsOf}`;
  const rows = savings.map(({ name, dollars, price }) => [toCents(dollars), name, price]);
  return `${toMonthText(month, title)}

What each change alone would save in such a month, in dollars, with its trade-off
${toColumns(rows)}`;
}

function toMonthText(month: Month, title: string, besides: [name: string, dollars: number][] = []) {
  const { head, toCells } = defineDollarColumns([month.components]);
  const rows = month.shares.map(({ operationId, response, requests, dollars }) => [
    `${operationId} ${response}`,
    Math.round(requests).toLocaleString('en-US'),
    ...toCells(dollars),
  ]);
  const toRow = (name: string, dollars: number) => [name, ...head.map(() => ''), toCents(dollars)];
  const fixed = components
    .filter((one) => month.fixedParts[one] >= 0.005)
    .map((one) => `${labels[one]} ${toCents(month.fixedParts[one])}`);
  return [
    `${title}, with an inventory of ${month.entries.toLocaleString('en-US')} entries, in dollars`,
    toColumns([
      ['', 'requests', ...head],
      ...rows,
      toRow('keys, read once a minute', month.keyReads),
      ...besides.map((row) => toRow(...row)),
      toRow('fixed', month.fixed),
      ['total', '', ...toCells(month.components).slice(0, -1), toCents(month.total)],
    ]),
    `Fixed: ${fixed.join(', ')}.`,
  ].join('\n');
}

export function toMonthsText(months: readonly Month[]): string {
  const rows = months.map((month, index) => [
    `${index + 1}`,
    Math.round(sumRequests(month)).toLocaleString('en-US'),
    ...[month.requests, month.fixed, month.total].map(toCents),
  ]);
  const sum = sumOf(months, ({ total }) => total);
  return toColumns([
    ['month', 'requests', 'for requests', 'fixed', 'total'],
    ...rows,
    ['sum', '', '', '', toCents(sum)],
  ]);
}

export function toWorstMonthText(month: WorstMonth): string {
  const title = 'The worst month, a valid key at the full rate of the throttles';
  const text = toMonthText(month, title, [
    ['other paths, at their throttle', month.other],
    ['429, at 10,000 a second', month.refusals],
  ]);
  return `${text}\nNothing bounds refused requests. The gateway charges nothing for them, but their log lines and responses are billed.`;
}

/** A column for each component that costs anything, and one for the total. */
export function defineDollarColumns(all: readonly Dollars[], toText = toCents) {
  const used = components.filter((one) => all.some((dollars) => dollars[one] > 0));
  return {
    head: [...used.map((one) => labels[one]), 'total'],
    toCells: (dollars: Dollars) => [
      ...used.map((one) => toText(dollars[one])),
      toText(sumDollars(dollars)),
    ],
  };
}
