import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import {
  addDollars,
  type Dollars,
  GIGABYTE,
  sumDollars,
  sumUsage,
  toDollars,
  toRates,
  type Usage,
  type UsageKind,
  usageKinds,
} from '../../costs/bills/usage.ts';
import type { PriceTable } from '../../costs/prices/priceTable.ts';
import { findUnits, readRecordedUnits } from '../../costs/units/recordedUnits.ts';
import type { GatewayRequests, LoggedRequests, LogTotals } from './logTotals.ts';

const counts = ['requests', 'readUnits', 'keyReadUnits', 'writeUnits', 'failedWrites'] as const;
type Counts = Readonly<Record<(typeof counts)[number], number>>;

/** What the requests of one key to one operation have used and cost. */
export interface KeyCost extends Counts {
  /** The key's name, or in brackets what stands in its place. */
  readonly key: string;
  /** None for what belongs to no operation, such as an unknown path. */
  readonly operation?: OperationId | undefined;
  readonly dollars: Dollars;
  readonly total: number;
}

/** The bytes that the logs took in. */
export interface LoggedBytes {
  readonly functions: Readonly<Record<OperationId, number>>;
  readonly gateway: number;
}

/**
 * What the requests of some days of one month have cost, by key and operation, keys in the order of their
 * names. All that was billed is in the rows, and nothing twice. The steps of prices that fall with use are
 * those of an account that has these requests and no other in the month.
 */
export function toKeyCosts(
  totals: LogTotals,
  bytes: LoggedBytes,
  { prices, hasFirewall }: { readonly prices: PriceTable; readonly hasFirewall: boolean },
): KeyCost[] {
  const work = divideWork(totals, bytes, hasFirewall);
  const rates = toRates(prices, sumUsage(work.map(({ usage }) => usage)));
  const priced = work.map((row) => ({ ...row, dollars: toDollars(row.usage, rates) }));
  const groups = Map.groupBy(priced, ({ key, operation }) => `${key}\n${operation ?? ''}`);
  return [...groups.values()].flatMap(joinRows).sort(compare);
}

/** What stands in the place of a key's name. */
const withoutKey = {
  /** Refused by a function, with 401 or because the keys could not be read. */
  invalid: '(no valid key)',
  /** For their rate, an unknown path and the like. */
  refused: '(refused by the gateway)',
  /** Preflights, which no function sees. */
  answered: '(answered by the gateway)',
  /** A function was called, and broke off before it could log: a timeout, a crash. */
  unlogged: '(no request line)',
} as const;

/** Some requests with the same key, operation and status, and what they used. */
interface KeyWork extends Omit<KeyCost, 'dollars' | 'total'> {
  readonly status: string;
  readonly isCalled: boolean;
  readonly milliseconds: number;
  readonly usage: Record<UsageKind, number>;
}

/**
 * Divides what the gateway and Lambda tell of all requests among those of each key: of the gateway's
 * requests, among those of the same operation and status; of a function's calls, among its own.
 */
function divideWork(totals: LogTotals, bytes: LoggedBytes, hasFirewall: boolean): KeyWork[] {
  const work = totals.requests.map(toLoggedWork);
  const headBytes = readHeadBytes();
  const lines = totals.gateway.reduce((sum, { requests }) => sum + requests, 0);
  for (const group of totals.gateway) {
    const { requests } = group;
    divide(findSame(work, group), ({ requests }) => requests, {
      gatewayRequests: toBilledRequests(group),
      sentGigabytes: (group.bytes + requests * headBytes) / GIGABYTE,
      streamedGigabytes: group.streamedBytes / GIGABYTE,
      loggedGigabytes: (bytes.gateway * requests) / lines / GIGABYTE,
      firewallRequests: hasFirewall ? requests : 0,
    });
  }
  for (const { operation, calls, megabyteMilliseconds, traced } of totals.calls) {
    const loggedGigabytes = bytes.functions[operation] / GIGABYTE;
    if (calls + loggedGigabytes === 0) continue;
    const rows = findCalled(work, operation);
    const gigabyteSeconds = megabyteMilliseconds / 1_024_000;
    divide(rows, ({ milliseconds }) => milliseconds, { gigabyteSeconds });
    const byNumber = { functionCalls: calls, traces: traced, loggedGigabytes };
    divide(rows, ({ requests }) => requests, byNumber);
  }
  return work;
}

/** Equal shares where there is nothing to go by. */
function divide(
  rows: readonly KeyWork[],
  weigh: (row: KeyWork) => number,
  usage: Partial<Usage>,
): void {
  const total = rows.reduce((sum, row) => sum + weigh(row), 0);
  for (const row of rows) {
    const share = total > 0 ? weigh(row) / total : 1 / rows.length;
    for (const kind of usageKinds) row.usage[kind] += share * (usage[kind] ?? 0);
  }
}

function findSame(work: KeyWork[], group: GatewayRequests): KeyWork[] {
  const { operation, status, isCalled } = group;
  const same = work.filter(
    (row) => isCalled && row.isCalled && row.operation === operation && row.status === status,
  );
  return same.length > 0 ? same : [addRow(work, toUnloggedWork(group))];
}

/** Of calls without a line, such as one that began a day before, there is a row of their own. */
function findCalled(work: KeyWork[], operation: OperationId): KeyWork[] {
  const called = work.filter((row) => row.isCalled && row.operation === operation);
  if (called.length > 0) return called;
  const row = { key: withoutKey.unlogged, operation, status: '', isCalled: true };
  return [addRow(work, { ...nothing, ...row, usage: { ...sumUsage([]) } })];
}

function addRow(work: KeyWork[], row: KeyWork): KeyWork {
  work.push(row);
  return row;
}

/** What the gateway refuses for its rate is free: https://aws.amazon.com/api-gateway/faqs/ */
function toBilledRequests({ isCalled, status, requests, furtherRequests }: GatewayRequests) {
  return !isCalled && status === '429' ? 0 : requests + furtherRequests;
}

const nothing = {
  requests: 0,
  milliseconds: 0,
  readUnits: 0,
  keyReadUnits: 0,
  writeUnits: 0,
  failedWrites: 0,
};

function toLoggedWork({ keyName, ...row }: LoggedRequests): KeyWork {
  const { readUnits, writeUnits } = row;
  const usage = { ...sumUsage([]), readUnits, writeUnits };
  return { ...row, key: keyName ?? withoutKey.invalid, isCalled: true, usage };
}

/** The gateway's requests of which no function has a line. */
function toUnloggedWork(group: GatewayRequests): KeyWork {
  const { isCalled, operation, status, requests, functionMilliseconds } = group;
  const byGateway = Number(status) < 400 ? withoutKey.answered : withoutKey.refused;
  const key = isCalled ? withoutKey.unlogged : byGateway;
  const milliseconds = isCalled ? functionMilliseconds : 0;
  const row = { ...nothing, key, operation, status, isCalled, requests, milliseconds };
  return { ...row, usage: { ...sumUsage([]) } };
}

/** The gateway counts the bytes of bodies; heads are sent, and billed, too. A 304 has nothing else. */
function readHeadBytes(): number {
  return findUnits(readRecordedUnits(), 'listInventory', '304', 1_000)?.responseBytes ?? 0;
}

function joinRows(rows: readonly (KeyWork & { readonly dollars: Dollars })[]): KeyCost[] {
  const [first] = rows;
  if (!first) return [];
  const { key, operation } = first;
  const sum = (name: keyof Counts) => rows.reduce((total, row) => total + row[name], 0);
  const sums = Object.fromEntries(counts.map((name) => [name, sum(name)])) as Counts;
  const dollars = addDollars(rows.map((row) => row.dollars));
  return [{ key, operation, ...sums, dollars, total: sumDollars(dollars) }];
}

/** Keys by name, before what has none; operations in the contract's order. */
function compare(one: KeyCost, other: KeyCost): number {
  return toOrder(one) < toOrder(other) ? -1 : 1;
}

function toOrder({ key, operation }: KeyCost): string {
  const place = operation === undefined ? operationIds.length : operationIds.indexOf(operation);
  return `${key.startsWith('(') ? 1 : 0} ${key} ${String(place).padStart(4, '0')}`;
}
