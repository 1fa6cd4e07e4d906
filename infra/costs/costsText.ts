import { toColumns, toCount } from '../cli/output.ts';
import {
  type ByKind,
  type Costs,
  mapKinds,
  priceUsage,
  SECONDS_A_MONTH,
  sumDollars,
} from './model.ts';
import { kinds, kindsByMonth, type Service, services, usageKinds } from './prices.ts';

/** Three tables. Each title has the stage, the region and the date of the prices. */
export function renderCosts(costs: Costs): string {
  const { stage, region, pricesAsOf, month } = costs;
  const where = `in dollars: ${stage}, ${region}, list prices of ${pricesAsOf} without tax`;
  const fixedPercent = Math.round((100 * month.fixed) / (month.total || 1));
  return [
    `A million requests, ${where}`,
    toColumns(listRequests(costs)),
    '',
    `A month, ${where}; traffic of ${costs.traffic}; ${toCount(costs.entries)} entries in the inventory`,
    toColumns(listMonth(month)),
    `AWS charges the fixed part even if no client sends a request, ${fixedPercent} % of this month: ${describeFixed(month)}.`,
    'Each figure is rounded by itself, so a sum may differ by some cents.',
    '',
    `A month at every throttle's rate, ${where}; ${toCount(costs.longest)} entries in the inventory`,
    toColumns(listThrottles(costs)),
    `Each throttle's rate for ${toCount(SECONDS_A_MONTH)} seconds, times the operation's most expensive request, at the first tier of each price.`,
    'It leaves out refused requests, traces and long User-Agents that clients force, lists that clients read slowly, writes that meet on the same entries, what is stored, and the fixed part.',
  ].join('\n');
}

function listRequests({ requests, sale, cart, entries, longest }: Costs): string[][] {
  const usual = `usual, of ${toCount(entries)} entries`;
  const most = `most expensive, of ${toCount(longest)} entries`;
  return [
    ['operation', usual, 'dollars', most, 'dollars'],
    ...requests.map(({ operationId, usual, mostExpensive }) => [
      ...[operationId, usual.request, toCents(usual.dollars)],
      ...[mostExpensive.request, toCents(mostExpensive.dollars)],
    ]),
    ...Object.entries({ 'a sale': sale, 'a cart': cart }).map(([name, { request, dollars }]) => [
      ...[name, request, toCents(dollars), '', ''],
    ]),
  ];
}

function listMonth({ rows, usage, rates }: Costs['month']): string[][] {
  const all = priceUsage(usage, rates);
  // A stage without a firewall has no column for it.
  const used = services.filter((service) => sumService(service, all) > 0);
  const cells = [...rows, { name: 'total', dollars: all }].map((row) => [
    ...[row.name, 'requests' in row ? toCount(Number(row.requests)) : ''],
    ...used.map((service) => toCents(sumService(service, row.dollars))),
    toCents(sumDollars(row.dollars)),
  ]);
  return [['', 'requests', ...used, 'total'], ...cells];
}

function listThrottles({ throttled: { rows, total } }: Costs): string[][] {
  const cells = rows.map((row) => [
    ...[row.operationId === 'other' ? 'other paths' : row.operationId, `${row.rate}`],
    ...[toCount(row.requests), row.request, toCents(row.dollarsPerMillion), toCount(row.dollars)],
  ]);
  const header = ['', 'a second', 'requests', 'most expensive', 'dollars a million', 'dollars'];
  return [header, ...cells, ['total', '', '', '', '', toCount(total)]];
}

/** Such as `metrics with an alarm: 74, $7.40; composite alarms: 2, $1.00`. The rest is the scheduled check's. */
function describeFixed({ fixedUsage, rates, fixed }: Costs['month']): string {
  const dollars = priceUsage(fixedUsage, rates);
  const counted = usageKinds.filter((kind) => kind in kindsByMonth && dollars[kind] >= 0.005);
  const texts = counted.map(
    (kind) => `${kinds[kind][1]}: ${toAmount(fixedUsage[kind])}, $${toCents(dollars[kind])}`,
  );
  const rest = counted.reduce((left, kind) => left - dollars[kind], fixed);
  if (rest >= 0.005) texts.push(`the scheduled check: $${toCents(rest)}`);
  return texts.join('; ');
}

const sumService = (service: Service, dollars: ByKind) =>
  sumDollars(mapKinds((kind) => (kinds[kind][0] === service ? dollars[kind] : 0)));
const toAmount = (number: number) =>
  number.toLocaleString('en-US', { maximumSignificantDigits: 3 });
const toCents = (dollars: number) =>
  dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
