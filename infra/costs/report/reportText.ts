import { toColumns } from '../../cli/columns.ts';
import { type Component, components } from '../model/components.ts';
import type { OperationCost } from '../model/operationCosts.ts';
import type { Saving } from '../model/savings.ts';
import type { CostReport, Month, WorstMonthReport } from './costReport.ts';

const labels: Record<Component, string> = {
  gateway: 'gateway',
  lambda: 'Lambda',
  readUnits: 'reads',
  writeUnits: 'writes',
  transfer: 'transfer',
  logs: 'logs',
  tracing: 'tracing',
  firewall: 'firewall',
};

/** Dollars per million requests, by operation, answer and component. */
export function toOperationsText({ operations, region, pricesAsOf }: CostReport): string {
  const used = components.filter((one) => operations.some((cost) => cost.components[one] > 0));
  const rows = operations.map((cost) => [
    toName(cost),
    ...used.map((component) => toCents(cost.components[component])),
    toCents(cost.dollarsPerMillion),
    `${toCents(cost.range.low)}–${toCents(cost.range.high)}`,
  ]);
  return [
    `Dollars per million requests, ${region}, prices of ${pricesAsOf}`,
    toAligned([['', ...used.map((one) => labels[one]), 'total', 'range'], ...rows]),
    "The range is that of the calls' assumed duration.",
  ].join('\n');
}

function toName({
  operationId,
  answer,
  entries,
}: OperationCost | (Month['shares'][number] & { entries?: number })): string {
  const size = entries === undefined ? '' : `, ${entries.toLocaleString('en-US')} entries`;
  return `${operationId} ${answer}${size}`;
}

/** A month's bill by operation and answer, with what the stage costs in any case. */
export function toMonthText(
  title: string,
  month: Month,
  more: readonly [string, number][] = [],
): string {
  const used = components.filter((one) => month.components[one] > 0);
  const rows = month.shares.map((share) => [
    toName(share),
    Math.round(share.requests).toLocaleString('en-US'),
    ...used.map((component) => toCents(share.dollars[component])),
    toCents(used.reduce((sum, one) => sum + share.dollars[one], 0)),
  ]);
  const blank = used.map(() => '');
  const toRow = (name: string, dollars: number) => [name, '', ...blank, toCents(dollars)];
  const fixed = Object.entries(month.fixedParts).filter(([, dollars]) => dollars >= 0.005);
  return [
    `${title}, with an inventory of ${month.entries.toLocaleString('en-US')} entries, in dollars`,
    toAligned([
      ['', 'requests', ...used.map((one) => labels[one]), 'total'],
      ...rows,
      toRow('keys, read anew each minute', month.keyReads),
      ...more.map(([name, dollars]) => toRow(name, dollars)),
      toRow(
        `fixed (${fixed.map(([name, dollars]) => `${fixedLabels[name] ?? name} ${toCents(dollars)}`).join(', ') || 'nothing'})`,
        month.fixed,
      ),
      ['total', '', ...used.map((one) => toCents(month.components[one])), toCents(month.total)],
    ]),
  ].join('\n');
}

const fixedLabels: Record<string, string> = {
  encryptionKeys: 'encryption key',
};

export function toWorstMonthText(month: WorstMonthReport): string {
  return [
    toMonthText(
      'The worst month: an attack with a valid key, around the clock, at all that the throttles let through',
      month,
      [
        ['unknown paths and methods, at their throttle', month.other],
        ['429, at 10,000 a second', month.refusals],
      ],
    ),
    'Nothing bounds the refusals: the gateway does not charge for them, but their log lines and answers are billed.',
  ].join('\n');
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
