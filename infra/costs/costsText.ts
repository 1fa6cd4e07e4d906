import { toColumns } from '../cli/output.ts';
import type { BillRow, ServiceCosts } from './bills/costReport.ts';
import { sumDollars, sumOf, toCents } from './bills/usage.ts';
import type { Dollars } from './prices.ts';

/** Four tables. Each title has the stage, the region and the date of the prices. */
export function renderCosts(costs: ServiceCosts): string {
  const { stage, region, pricesAsOf, operations, sales, month, worstMonth } = costs;
  const where = `${stage}, ${region}, list prices of ${pricesAsOf} without tax`;
  const requests = operations.map((one) => [
    one.operationId,
    ...[one.typical, toCents(one.typicalDollars)],
    ...[one.mostExpensive, toCents(one.mostExpensiveDollars)],
  ]);
  const sold = sales.map(({ name, marginal, full }) => [
    ...[name, toCents(marginal), full === undefined ? '-' : toCents(full)],
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
    const toDollars = ({ dollars }: BillRow) => sumOf(parts, (one) => dollars[one] ?? 0);
    return { name, dollars: rows.map(toDollars) };
  });
  const columns = all.filter(({ dollars }) => dollars.some((sum) => sum > 0));
  const totals = roundToCents(
    rows.map(({ dollars }) => sumDollars(dollars)),
    Math.round(total * 100),
  );
  // What rounding has left of each column, so that its total is within a cent too.
  let carried = columns.map(() => 0);
  const cells = rows.map((_, row) => {
    const dollars = columns.map((column) => column.dollars[row] ?? 0);
    const cents = roundToCents(dollars, totals[row] ?? 0, carried);
    carried = carried.map(
      (one, column) => one + 100 * (dollars[column] ?? 0) - (cents[column] ?? 0),
    );
    return cents;
  });
  const toText = (hundredths: number) => toCents(hundredths / 100);
  const toTotal = (_: unknown, column: number) => sumOf(cells, (row) => row[column] ?? 0);
  return toColumns([
    ['', 'requests', ...columns.map(({ name }) => name), 'total'],
    ...rows.map(({ name, requests }, row) => [
      ...[name, requests === undefined ? '' : Math.round(requests).toLocaleString('en-US')],
      ...[...(cells[row] ?? []), totals[row] ?? 0].map(toText),
    ]),
    ['total', '', ...columns.map(toTotal).map(toText), toText(Math.round(total * 100))],
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
  const byRemainder = dollars
    .map((one, index) => {
      const own = one * 100 - (cents[index] ?? 0);
      // Whole cents stay as they are.
      const remainder = own > 1e-6 ? own + (carried[index] ?? 0) : Number.NEGATIVE_INFINITY;
      return { index, remainder };
    })
    .sort((one, other) => other.remainder - one.remainder);
  const missing = sum - sumOf(cents, (one) => one);
  for (const { index } of byRemainder.slice(0, missing)) cents[index] = (cents[index] ?? 0) + 1;
  return cents;
}
