import { toColumns } from '../cli/output.ts';
import type { ServiceCosts } from './bills/costReport.ts';
import { sumDollars, sumOf, toCents } from './bills/usage.ts';
import type { Dollars } from './prices.ts';

/** Four tables. Each title has the stage, the region and the date of the prices. */
export function renderCosts(costs: ServiceCosts): string {
  const { stage, region, pricesAsOf, operations, sales, month, worstMonth } = costs;
  const where = `${stage}, ${region}, list prices of ${pricesAsOf} without tax`;
  const requests = operations.map((one) => [
    one.operationId,
    one.typical,
    toCents(one.typicalDollars),
    one.mostExpensive,
    toCents(one.mostExpensiveDollars),
  ]);
  const sold = sales.map(({ name, marginal, full }) => [
    name,
    toCents(marginal),
    full === undefined ? '-' : toCents(full),
  ]);
  return [
    `A million requests, in dollars: ${where}`,
    toColumns([
      ['operation', 'most frequent', 'dollars', 'most expensive', 'dollars'],
      ...requests,
    ]),
    'The most expensive ones are traced, which a client can force, and their User-Agent fills 10 KB of log.',
    '',
    `A million sales, in dollars: ${where}; traffic of ${costs.traffic}`,
    toColumns([['sale', 'one more', 'with its share of the month'], ...sold]),
    '',
    `A month, in dollars: ${where}; traffic of ${costs.traffic}; ${toEntries(month)}`,
    renderBill(month),
    '',
    `The worst month, in dollars: ${where}; every throttle used up by a valid key; ${toEntries(worstMonth)}`,
    renderBill(worstMonth),
    bounds,
    ...(costs.priceNote === undefined ? [] : [costs.priceNote]),
  ].join('\n');
}

const bounds =
  'Throttles bound what is let through, functions’ timeouts bound slow readers, and maximumUnitsPerSecond bounds write units. Nothing bounds refused requests: each costs a line of log, its response, and the firewall’s check. The firewall refuses one address or key after its share, and not many of them.';

const toEntries = ({ entries }: ServiceCosts['month']) =>
  `${entries.toLocaleString('en-US')} entries in the inventory`;

/** As on AWS's invoices. */
const services: Readonly<Record<string, readonly (keyof Dollars)[]>> = {
  'API Gateway': ['gateway'],
  Lambda: ['lambda'],
  DynamoDB: ['readUnits', 'writeUnits', 'storage'],
  transfer: ['transfer'],
  CloudWatch: ['logs', 'storedLogs', 'alarms', 'metrics'],
  'X-Ray': ['tracing'],
  WAF: ['firewall'],
  KMS: ['encryptionKeys'],
};

function renderBill({ rows, total }: ServiceCosts['month']): string {
  const all = Object.entries(services).map(([name, parts]) => {
    return { name, dollars: rows.map((row) => sumOf(parts, (one) => row.dollars[one] ?? 0)) };
  });
  const columns = all.filter(({ dollars }) => dollars.some((sum) => sum > 0));
  const cents = Math.round(total * 100);
  const totals = roundToCents(
    rows.map(({ dollars }) => sumDollars(dollars)),
    cents,
  );
  // What rounding has left of each column, so that its total is within a cent too.
  let carried = columns.map(() => 0);
  const cells = totals.map((sum, row) => {
    const dollars = columns.map((column) => column.dollars[row] ?? 0);
    const rounded = roundToCents(dollars, sum, carried);
    carried = carried.map((one, at) => one + 100 * (dollars[at] ?? 0) - (rounded[at] ?? 0));
    return [...rounded, sum];
  });
  const sums = columns.map((_, column) => sumOf(cells, (row) => row[column] ?? 0));
  const toTexts = (hundredths: readonly number[] = []) =>
    hundredths.map((one) => toCents(one / 100));
  const toCount = (requests: number) => Math.round(requests).toLocaleString('en-US');
  return toColumns([
    ['', 'requests', ...columns.map(({ name }) => name), 'total'],
    ...rows.map(({ name, requests }, row) => [
      name,
      requests === undefined ? '' : toCount(requests),
      ...toTexts(cells[row]),
    ]),
    ['total', '', ...toTexts([...sums, cents])],
  ]);
}

/**
 * Rounds dollars to cents that add up to the sum: those with the largest remainders are rounded up.
 * @param carried what the rows above left of each in cents, which counts as a remainder too
 */
function roundToCents(
  dollars: readonly number[],
  sum: number,
  carried: readonly number[] = [],
): number[] {
  const cents = dollars.map((one) => Math.floor(one * 100 + 1e-6));
  const remainders = dollars.map((one, index) => {
    const own = one * 100 - (cents[index] ?? 0);
    // Whole cents stay as they are.
    return own > 1e-6 ? own + (carried[index] ?? 0) : Number.NEGATIVE_INFINITY;
  });
  const order = [...remainders.keys()].sort(
    (one, other) => (remainders[other] ?? 0) - (remainders[one] ?? 0),
  );
  const missing = sum - sumOf(cents, (one) => one);
  const up = new Set(order.slice(0, missing));
  return cents.map((one, index) => (up.has(index) ? one + 1 : one));
}
