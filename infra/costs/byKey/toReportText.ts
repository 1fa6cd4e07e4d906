import { toColumns } from '../../cli/columns.ts';
import {
  addDollars,
  type Component,
  components,
  type Dollars,
  sumDollars,
} from '../model/components.ts';
import { toDay } from './dayRange.ts';
import { type CostReport, type MonthCosts, sumCosts } from './monthCosts.ts';

const headings: Record<Component, string> = {
  gateway: 'GATEWAY',
  lambda: 'LAMBDA',
  readUnits: 'READS',
  writeUnits: 'WRITES',
  transfer: 'TRANSFER',
  logs: 'LOGS',
  tracing: 'TRACES',
  firewall: 'FIREWALL',
};

/** The costs for people. */
export function toReportTable(report: CostReport): string {
  const { stage, region, pricesAsOf, months } = report;
  const rows = months.flatMap((month) =>
    month.keys.map(({ key, operation = '-', requests, dollars }) => [
      toName(month),
      key,
      operation,
      requests.toLocaleString('en-US'),
      ...toCells(dollars),
    ]),
  );
  const all = months.flatMap(({ keys }) => keys);
  const requests = all.reduce((sum, one) => sum + one.requests, 0).toLocaleString('en-US');
  const total = [
    'all',
    '',
    '',
    requests,
    ...toCells(addDollars(all.map(({ dollars }) => dollars))),
  ];
  const head = [
    'MONTH',
    'KEY',
    'OPERATION',
    'REQUESTS',
    ...components.map((one) => headings[one]),
    'TOTAL',
  ];
  return `Dollars of ${stage} in ${region}, by the prices of ${pricesAsOf}.\n\n${toColumns([head, ...rows, total])}\n`;
}

function toCells(dollars: Dollars): string[] {
  return [...components.map((one) => dollars[one]), sumDollars(dollars)].map((one) =>
    one.toFixed(4),
  );
}

/** The costs for a machine. */
export function toReportJson({ months, ...report }: CostReport): string {
  const document = {
    ...report,
    months: months.map(({ days, keys }) => ({
      from: toDay(days.from),
      to: toDay(days.end - 1),
      keys: keys.map((cost) => ({ ...cost, total: sumDollars(cost.dollars) })),
      total: sumCosts(keys),
    })),
    total: months.reduce((sum, { keys }) => sum + sumCosts(keys), 0),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Such as `2026-11`. */
function toName({ days }: MonthCosts): string {
  return toDay(days.from).slice(0, 7);
}
