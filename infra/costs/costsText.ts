import { toColumns } from '../cli/output.ts';
import type { CostReport, RequestReport } from './bills/costReport.ts';
import type { Month, WorstMonth } from './bills/monthlyBill.ts';
import { sumDollars, toCents } from './bills/usage.ts';
import { components, type Dollars, componentLabels as labels } from './prices.ts';

export function toOperationsText({ operations, region, pricesAsOf }: RequestReport): string {
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

export function toMonthText({ stage, region, pricesAsOf, month }: CostReport): string {
  return toBillText(month, `A month of ${stage}, ${region}, prices of ${pricesAsOf}`);
}

function toBillText(month: Month, title: string, besides: [name: string, dollars: number][] = []) {
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

export function toWorstMonthText(month: WorstMonth): string {
  const title = 'The worst month, a valid key at the full rate of the throttles';
  const text = toBillText(month, title, [
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
