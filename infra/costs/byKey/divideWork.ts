import type { OperationId } from '../../../shared/contract/operations.ts';
import { type KeyWork, toLoggedWork, toUnaskedWork, toUnloggedWork } from './keyWork.ts';
import type { GatewayRequests, LogTotals, ReportedCalls } from './logTotals.ts';

/** The bytes that the logs took in. */
export interface LoggedBytes {
  readonly functions: Readonly<Record<OperationId, number>>;
  readonly gateway: number;
}

/**
 * Divides what the gateway and Lambda tell of all requests among those of each key: of the gateway's
 * requests, among those of the same operation and status; of a function's calls, among its own.
 */
export function divideWork(totals: LogTotals, bytes: LoggedBytes): KeyWork[] {
  const work = totals.requests.map(toLoggedWork);
  const lines = totals.gateway.reduce((sum, { requests }) => sum + requests, 0);
  for (const group of totals.gateway) {
    const logBytes = (bytes.gateway * group.requests) / lines;
    addGateway(findSame(work, group), group, logBytes);
  }
  for (const report of totals.calls) {
    const logBytes = bytes.functions[report.operation];
    if (report.calls + logBytes > 0) addCalls(findCalled(work, report), report, logBytes);
  }
  return work;
}

function findSame(work: KeyWork[], group: GatewayRequests): KeyWork[] {
  const { operation, status, isCalled } = group;
  const same = work.filter(
    (row) => isCalled && row.isCalled && row.operation === operation && row.status === status,
  );
  if (same.length > 0) return same;
  const row = toUnloggedWork(group);
  work.push(row);
  return [row];
}

function addGateway(rows: readonly KeyWork[], group: GatewayRequests, logBytes: number): void {
  const share = defineShare(rows, ({ requests }) => requests);
  for (const row of rows) {
    row.gatewayLines += group.requests * share(row);
    row.gatewayRequests += toBilledRequests(group) * share(row);
    row.bodyBytes += group.bytes * share(row);
    row.streamedBytes += group.streamedBytes * share(row);
    row.logBytes += logBytes * share(row);
  }
}

/** What the gateway refuses for its rate is free: https://aws.amazon.com/api-gateway/faqs/ */
function toBilledRequests({ isCalled, status, requests, furtherRequests }: GatewayRequests) {
  return !isCalled && status === '429' ? 0 : requests + furtherRequests;
}

function findCalled(work: KeyWork[], { operation }: ReportedCalls): KeyWork[] {
  const called = work.filter((row) => row.isCalled && row.operation === operation);
  if (called.length > 0) return called;
  const row = toUnaskedWork(operation);
  work.push(row);
  return [row];
}

/** A function's time goes by the requests' milliseconds, and all else by their number. */
function addCalls(rows: readonly KeyWork[], report: ReportedCalls, logBytes: number): void {
  const byTime = defineShare(rows, ({ milliseconds }) => milliseconds);
  const byNumber = defineShare(rows, ({ requests }) => requests);
  for (const row of rows) {
    row.calls += report.calls * byNumber(row);
    row.megabyteMilliseconds += report.megabyteMilliseconds * byTime(row);
    row.traced += report.traced * byNumber(row);
    row.logBytes += logBytes * byNumber(row);
  }
}

/** Equal shares where there is nothing to go by. */
function defineShare(rows: readonly KeyWork[], weigh: (row: KeyWork) => number) {
  const total = rows.reduce((sum, row) => sum + weigh(row), 0);
  return (row: KeyWork) => (total > 0 ? weigh(row) / total : 1 / rows.length);
}
