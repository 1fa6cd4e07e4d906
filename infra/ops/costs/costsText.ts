import { toColumns } from '../../cli/output.ts';
import type { CostReport, OperationCost } from '../../costs/bills/costReport.ts';
import { listFixedParts } from '../../costs/bills/fixedCosts.ts';
import type { Month, WorstMonth } from '../../costs/bills/monthlyBill.ts';
import type { Saving } from '../../costs/bills/savings.ts';
import { components, componentLabels as labels } from '../../costs/bills/usage.ts';

/** Dollars per million requests, by operation, answer and component. */
export function toOperationsText({ operations, region, pricesAsOf }: CostReport): string {
  const used = components.filter((one) => operations.some((cost) => cost.components[one] > 0));
  const toRow = (cost: OperationCost) => [
    `  ${toAnswerName(cost)}`,
    ...used.map((component) => toCents(cost.components[component])),
    toCents(cost.dollarsPerMillion),
    toRange(cost.range),
  ];
  const byOperation = Map.groupBy(operations, ({ operationId }) => operationId);
  const rows = [...byOperation].flatMap(([id, costs]) => [[id], ...costs.map(toRow)]);
  return [
    `Dollars per million requests, ${region}, prices of ${pricesAsOf}; lists of so many entries`,
    toAligned([['', ...used.map((one) => labels[one]), 'total', 'range'], ...rows]),
    "The range is that of the calls' assumed duration.",
  ].join('\n');
}

function toAnswerName({ answer, entries }: OperationCost): string {
  return entries === undefined ? answer : `${answer} of ${entries.toLocaleString('en-US')}`;
}

/**
 * A month's bill by operation and answer, with what the stage costs in any case.
 * @param more what is billed besides the operations' answers, in dollars
 */
export function toMonthText(
  month: Month,
  title: string,
  more: readonly (readonly [name: string, dollars: number])[] = [],
  toText = toCents,
): string {
  const used = components.filter((one) => month.components[one] > 0);
  const rows = month.shares.map((share) => [
    `${share.operationId} ${share.answer}`,
    Math.round(share.requests).toLocaleString('en-US'),
    ...used.map((component) => toText(share.dollars[component])),
    toText(used.reduce((sum, one) => sum + share.dollars[one], 0)),
  ]);
  const blank = used.map(() => '');
  const toRow = (name: string, dollars: number) => [name, '', ...blank, toText(dollars)];
  const fixed = listFixedParts(month.fixedParts);
  return [
    title,
    `With an inventory of ${month.entries.toLocaleString('en-US')} entries, in dollars`,
    toAligned([
      ['', 'requests', ...used.map((one) => labels[one]), 'total'],
      ...rows,
      toRow('keys, read anew each minute', month.keyReads),
      ...more.map(([name, dollars]) => toRow(name, dollars)),
      toRow('fixed', month.fixed),
      ['total', '', ...used.map((one) => toText(month.components[one])), toText(month.total)],
    ]),
    `Fixed are ${fixed.map(([name, dollars]) => `${name} ${toCents(dollars)}`).join(', ') || 'nothing'}.`,
  ].join('\n');
}

export function toWorstMonthText(month: WorstMonth): string {
  return [
    toMonthText(
      month,
      'The worst month: an attack with a valid key, around the clock, at all that the throttles let through',
      [
        ['other paths, at their throttle', month.other],
        ['429, at 10,000 a second', month.refusals],
      ],
      (dollars) => Math.round(dollars).toLocaleString('en-US'),
    ),
    'Nothing bounds the refusals: the gateway charges nothing for them, but their log lines and answers are billed.',
  ].join('\n');
}

/** Cents where they tell something. */
function toRange({ low, high }: OperationCost['range']): string {
  const toText = high < 100 ? toCents : (dollars: number) => dollars.toFixed(0);
  return `${toText(low)}–${toText(high)}`;
}

export function toSavingsText(savings: readonly Saving[]): string {
  const rows = savings.map(({ name, dollars, price }) => [toCents(dollars), name, price]);
  return [
    'What would save how many dollars in such a month, each by itself, and what it takes',
    toAligned(rows, (column) => column > 0),
  ].join('\n');
}

/** @param isText whether a column is of words, which begin together; numbers end together */
function toAligned(
  rows: readonly (readonly string[])[],
  isText: (column: number) => boolean = (column) => column === 0,
): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return toColumns(
    rows.map((row) =>
      row.map((cell, column) => (isText(column) ? cell : cell.padStart(widths[column] ?? 0))),
    ),
  );
}

function toCents(dollars: number): string {
  return dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
