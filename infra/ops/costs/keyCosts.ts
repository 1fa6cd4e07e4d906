import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
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
import type { PriceTable } from '../../costs/prices.ts';
import { findUnits, readRecordedUnits } from '../../costs/units/answerUnits.ts';
import { toAccessLogName, toFunctionLogName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import type { LogRows, LogVolume, QueryRow } from './logRows.ts';

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

/**
 * What the requests of some days of one month have cost, by key and operation, keys in the order of their
 * names. All that was billed is in the rows, and nothing twice. The steps of prices that fall with use are
 * those of an account that has these requests and no other in the month.
 * @param volume the bytes that each log took in
 */
export function toKeyCosts(
  rows: LogRows,
  volume: LogVolume,
  stage: Stage,
  prices: PriceTable,
): KeyCost[] {
  const work = rows.functions.flatMap(toLoggedWork);
  divideGatewayRequests(work, rows.access, volume, stage);
  divideCalls(work, rows.functions, volume, stage);
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
  /** Whether a function was called for them. */
  readonly isCalled: boolean;
  readonly milliseconds: number;
  readonly usage: Record<UsageKind, number>;
}

type WorkOf = Pick<KeyWork, 'key' | 'operation' | 'status' | 'isCalled'> & Partial<KeyWork>;

function toWork(row: WorkOf): KeyWork {
  const none = { requests: 0, readUnits: 0, keyReadUnits: 0, writeUnits: 0, failedWrites: 0 };
  return { ...none, milliseconds: 0, usage: { ...sumUsage([]) }, ...row };
}

/** The requests that a function logged with the same key and status. */
function toLoggedWork(row: QueryRow): KeyWork[] {
  const operation = operationIds.find((id) => id === row.operation);
  if (!operation) return [];
  const [readUnits, writeUnits] = [toNumber(row.readUnits), toNumber(row.writeUnits)];
  return [
    toWork({
      key: row.keyName || withoutKey.invalid,
      operation,
      status: row.status ?? '',
      isCalled: true,
      requests: toNumber(row.lines),
      milliseconds: toNumber(row.milliseconds),
      readUnits,
      keyReadUnits: toNumber(row.keyReadUnits),
      writeUnits,
      failedWrites: toNumber(row.failedWrites),
      usage: { ...sumUsage([]), readUnits, writeUnits },
    }),
  ];
}

/** The gateway's lines with the same route and status, as a row of their own where no function has a line of them. */
function toGatewayWork({ route, method, status = '', ...row }: QueryRow): KeyWork {
  const operation = operationIds.find(
    (id) => operations[id].path === route && operations[id].method === method,
  );
  // What the gateway answers to a preflight may have a status as if a function had.
  const isCalled = operation !== undefined && (row.functionStatus ?? '-') !== '-';
  const byGateway = Number(status) < 400 ? withoutKey.answered : withoutKey.refused;
  return toWork({
    key: isCalled ? withoutKey.unlogged : byGateway,
    operation,
    status,
    isCalled,
    requests: toNumber(row.lines),
    milliseconds: isCalled ? toNumber(row.milliseconds) : 0,
  });
}

/** Divides what the gateway tells of all requests among those of the same operation and status. */
function divideGatewayRequests(
  work: KeyWork[],
  access: readonly QueryRow[],
  volume: LogVolume,
  stage: Stage,
): void {
  const headBytes = readHeadBytes();
  const lines = access.reduce((sum, row) => sum + toNumber(row.lines), 0);
  const logBytes = volume.get(toAccessLogName(stage)) ?? 0;
  for (const row of access) {
    const group = toGatewayWork(row);
    const { isCalled, operation, requests, status } = group;
    const isSame = (one: KeyWork) =>
      isCalled && one.isCalled && one.operation === operation && one.status === status;
    // What the gateway refuses for its rate is free: https://aws.amazon.com/api-gateway/faqs/
    const isFree = !isCalled && status === '429';
    divide(findOrAdd(work, isSame, group), ({ requests }) => requests, {
      gatewayRequests: isFree ? 0 : requests + toNumber(row.furtherRequests),
      sentGigabytes: (toNumber(row.sent) + requests * headBytes) / GIGABYTE,
      streamedGigabytes: toNumber(row.streamedBytes) / GIGABYTE,
      loggedGigabytes: (logBytes * requests) / lines / GIGABYTE,
      firewallRequests: stage.settings.firewall ? requests : 0,
    });
  }
}

/** Divides what Lambda tells of all calls of a function among its requests. */
function divideCalls(
  work: KeyWork[],
  functions: readonly QueryRow[],
  volume: LogVolume,
  stage: Stage,
): void {
  const reports = functions.filter(({ type }) => type === 'platform.report');
  for (const operation of operationIds) {
    const log = toFunctionLogName(stage, operation);
    const report = reports.find((row) => row['@log']?.endsWith(`:${log}`));
    const functionCalls = toNumber(report?.lines);
    const loggedGigabytes = (volume.get(log) ?? 0) / GIGABYTE;
    if (functionCalls + loggedGigabytes === 0) continue;
    const isSame = (one: KeyWork) => one.isCalled && one.operation === operation;
    // Of calls without a line, such as one that began a day before, there is a row of their own.
    const own = toWork({ key: withoutKey.unlogged, operation, status: '', isCalled: true });
    const rows = findOrAdd(work, isSame, own);
    divide(rows, ({ milliseconds }) => milliseconds, {
      gigabyteSeconds: toNumber(report?.billed) / 1_024_000,
    });
    const byNumber = { functionCalls, traces: toNumber(report?.traced), loggedGigabytes };
    divide(rows, ({ requests }) => requests, byNumber);
  }
}

function findOrAdd(
  work: KeyWork[],
  isSame: (row: KeyWork) => boolean,
  otherwise: KeyWork,
): KeyWork[] {
  const same = work.filter(isSame);
  if (same.length > 0) return same;
  work.push(otherwise);
  return [otherwise];
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

/** The gateway counts the bytes of bodies; heads are sent, and billed, too. A 304 has nothing else. */
function readHeadBytes(): number {
  return findUnits(readRecordedUnits(), 'listInventory', '304', 1_000)?.responseBytes ?? 0;
}

/** A sum of nothing is left out of the logs' answer. */
function toNumber(text: string | undefined): number {
  return Number(text) || 0;
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
