import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { type QueryRow, toNumber } from '../../cli/logsInsights.ts';
import { CHECK_KEY, toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import {
  GIGABYTE,
  sumDollars,
  sumOf,
  sumUsage,
  toDollars,
  toRates,
  toRecord,
  type Usage,
} from '../bills/usage.ts';
import { readPrices, usageKinds } from '../prices.ts';
import { findUnits, readRecordedUnits } from '../units/responseUnits.ts';
import type { LogRows, LogVolume } from './logRows.ts';

export type KeyCost = ReturnType<typeof priceKeys>[number];

/** The key of calls that broke off before the function could log: a timeout, a crash. */
const UNLOGGED = '(no request line)';

interface Requests {
  /** The key's name, or a description in brackets. */
  readonly key: string;
  /** Undefined for requests of no operation, such as to an unknown path. */
  readonly operation: OperationId | undefined;
  readonly status: string;
  readonly isCalled: boolean;
  readonly requests: number;
  readonly milliseconds: number;
  readonly used: Usage[];
}

/**
 * The cost of the requests in some days of one month, by key and operation, sorted by name of the key. The rows have
 * everything that was billed, once, except for the scheduled check. Price tiers are those of an account with only these
 * requests in the month.
 * @param volume the bytes that each log took in
 */
export function priceKeys(logs: LogRows, volume: LogVolume, stage: Stage) {
  const all = logs.functions.flatMap(toRequests);
  divideGateway(all, logs, volume, stage);
  divideCalls(all, logs, volume, stage);
  const { prices } = readPrices(stage.settings.region);
  const rates = toRates(prices, sumUsage(all.flatMap(({ used }) => used)));
  // The scheduled check's requests are a part of the fixed costs.
  const others = all.filter(({ key }) => key !== CHECK_KEY);
  const groups = [...Map.groupBy(others, toOrder)].sort(([one], [other]) => (one < other ? -1 : 1));
  return groups.map(([, rows]) => {
    const [{ key, operation }] = rows as [Requests];
    const isSale = ({ status }: Requests) => operation === 'adjustInventory' && status === '200';
    const usage = sumUsage(rows.flatMap(({ used }) => used));
    const dollars = toDollars(usage, rates);
    const sales = sumOf(rows.filter(isSale), (row) => row.requests);
    const requests = sumOf(rows, (row) => row.requests);
    return { key, operation, requests, sales, usage, dollars, total: sumDollars(dollars) };
  });
}

/** Sorts by name of the key, with nameless rows last, and by the contract's order of operations. */
function toOrder({ key, operation }: Requests): string {
  const place = operation === undefined ? operationIds.length : operationIds.indexOf(operation);
  return `${key.startsWith('(') ? 1 : 0} ${key} ${String(place).padStart(4, '0')}`;
}

function toRequests({ keyName, status = '', ...row }: QueryRow): Requests[] {
  const operation = operationIds.find((id) => id === row.operation);
  if (!operation) return [];
  return [
    {
      // Requests without a key got 401, or the keys could not be read.
      key: keyName || '(no valid key)',
      operation,
      status,
      isCalled: true,
      requests: toNumber(row.lines),
      milliseconds: toNumber(row.milliseconds),
      used: [{ readUnits: toNumber(row.readUnits), writeUnits: toNumber(row.writeUnits) }],
    },
  ];
}

function divideGateway(all: Requests[], { access }: LogRows, volume: LogVolume, stage: Stage) {
  // The gateway counts only bytes of bodies. Headers are billed too; a 304 has nothing else.
  const notModified = findUnits({ units: readRecordedUnits() }, 'listInventory', '304', 1_000);
  const lines = sumOf(access, (row) => toNumber(row.lines));
  const logBytes = volume.get(toNames(stage).accessLog) ?? 0;
  for (const { status = '', functionStatus = '-', ...row } of access) {
    const operation = findOperation(row.method, row.route);
    // The gateway responds to preflights, with a status that a function uses too.
    const isCalled = operation !== undefined && functionStatus !== '-';
    const byGateway = `(${Number(status) < 400 ? 'allowed' : 'refused'} by the gateway)`;
    const requests = toNumber(row.lines);
    // Throttled requests are free: https://aws.amazon.com/api-gateway/faqs/
    const isFree = !isCalled && status === '429';
    const own = {
      key: isCalled ? UNLOGGED : byGateway,
      operation,
      status,
      isCalled,
      requests,
      milliseconds: isCalled ? toNumber(row.milliseconds) : 0,
    };
    const isSame = (one: Requests) =>
      isCalled && one.isCalled && one.operation === operation && one.status === status;
    divide(all, isSame, own, 'requests', {
      gatewayRequests: isFree ? 0 : requests + toNumber(row.furtherRequests),
      sentGigabytes: (toNumber(row.sent) + requests * (notModified?.responseBytes ?? 0)) / GIGABYTE,
      streamedGigabytes: toNumber(row.streamedBytes) / GIGABYTE,
      loggedGigabytes: (logBytes * requests) / lines / GIGABYTE,
      firewallRequests: stage.settings.firewall ? requests : 0,
    });
  }
}

function divideCalls(all: Requests[], { functions }: LogRows, volume: LogVolume, stage: Stage) {
  const reports = functions.filter(({ type }) => type === 'platform.report');
  for (const operation of operationIds) {
    const log = toNames(stage).toFunctionLog(operation);
    const report = reports.find((row) => row['@log']?.endsWith(`:${log}`));
    const functionCalls = toNumber(report?.lines);
    const loggedGigabytes = (volume.get(log) ?? 0) / GIGABYTE;
    if (functionCalls + loggedGigabytes === 0) continue;
    // Calls without a line, such as one that began a day before, have a row of their own.
    const nothing = { status: '', requests: 0, milliseconds: 0 };
    const own = { key: UNLOGGED, operation, isCalled: true, ...nothing };
    const isSame = (one: Requests) => one.isCalled && one.operation === operation;
    const gigabyteSeconds = toNumber(report?.billed) / 1_024_000;
    divide(all, isSame, own, 'milliseconds', { gigabyteSeconds });
    const traces = toNumber(report?.traced);
    divide(all, isSame, own, 'requests', { functionCalls, traces, loggedGigabytes });
  }
}

/** Divides use among requests, in equal shares if nothing is known. Without requests, it has a row of its own. */
function divide(
  all: Requests[],
  isSame: (row: Requests) => boolean,
  own: Omit<Requests, 'used'>,
  weight: 'requests' | 'milliseconds',
  usage: Usage,
) {
  const rows = all.filter(isSame);
  if (rows.length === 0) {
    rows.push({ ...own, used: [] });
    all.push(...rows);
  }
  const total = sumOf(rows, (row) => row[weight]);
  for (const row of rows) {
    const share = total > 0 ? row[weight] / total : 1 / rows.length;
    row.used.push(toRecord(usageKinds, (kind) => (usage[kind] ?? 0) * share));
  }
}

/** The cost of all requests of each key, and its share of the fixed costs in proportion. */
export function sumKeys(costs: readonly KeyCost[], fixed: number, months: number) {
  const all = sumOf(costs, ({ total }) => total);
  return [...Map.groupBy(costs, ({ key }) => key)].map(([key, own]) => {
    const dollars = sumOf(own, ({ total }) => total);
    const sales = sumOf(own, (one) => one.sales);
    const share = all > 0 ? (fixed * dollars) / all : 0;
    const total = dollars + share;
    return {
      key,
      requests: sumOf(own, (one) => one.requests),
      sales,
      dollars,
      fixed: share,
      total,
      /** At this rate. */
      perMonth: total / months,
      perThousandSales: sales > 0 ? (1_000 * total) / sales : undefined,
    };
  });
}
