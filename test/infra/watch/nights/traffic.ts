import type { TableName } from '../../../../infra/stages/tables.ts';
import type { End } from '../../../../infra/watch/check/daysLeft.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
} from '../../../../shared/contract/operations.ts';

/** What an operation saw in a minute. */
export interface OperationMinute {
  calls: number;
  /** Answers of 5xx that the handler made. */
  failed: number;
  /** Crashes and timeouts, which the gateway answers by 5xx. */
  crashed: number;
  /** Calls that Lambda refused, which the gateway answers by 5xx. */
  refused: number;
  /** The slowest hundredth, in milliseconds; of a list, the whole of it. */
  slowest: number;
  /** Of the streamed list, in milliseconds. */
  firstByte: number;
  atOnce: number;
}

/** A minute of a stage. */
export interface Minute {
  operations: Record<OperationId, OperationMinute>;
  /** Answers by status that are not 200 and not 5xx. */
  refusals: Record<'401' | '403' | '429', number>;
  throttles: Partial<Record<TableName, number>>;
  systemErrors: Partial<Record<TableName, number>>;
  /** Calls that run at once in the account. */
  accountAtOnce: number;
  /** 5xx that the gateway made by itself. */
  gatewayErrors: number;
  /** How the scheduled check ended. */
  check: 'passed' | 'failed' | 'none';
  /** Days until an end, as the check tells them. */
  days: Record<End, number>;
}

/** An operation's share of the calls, and its slowest in milliseconds. */
const ordinary: Partial<Record<OperationId, readonly [share: number, slowest: number]>> = {
  listInventory: [0.2, 1_800],
  updateInventory: [0.3, 120],
  getPet: [0.4, 90],
  listOrders: [0.1, 150],
};

/** An ordinary minute: some calls of each operation, quick and right. */
export function toOrdinaryMinute(calls: number): Minute {
  const toOperationMinute = (id: OperationId): OperationMinute => {
    const [share, slowest] = ordinary[id] ?? [0.1, 100];
    return {
      calls: Math.round(calls * share),
      failed: 0,
      crashed: 0,
      refused: 0,
      slowest,
      firstByte: 250,
      atOnce: 2,
    };
  };
  return {
    operations: mapOperations(toOperationMinute),
    refusals: { 401: 0, 403: 0, 429: 0 },
    throttles: {},
    systemErrors: {},
    accountAtOnce: 20,
    gatewayErrors: 0,
    check: 'passed',
    days: { certificate: 200, key: 90, sunset: 300 },
  };
}

/** All requests that the gateway counts. */
export function countRequests({ operations, refusals, gatewayErrors }: Minute): number {
  const calls = operationIds.reduce(
    (sum, id) => sum + operations[id].calls + operations[id].refused,
    0,
  );
  return calls + refusals[401] + refusals[403] + refusals[429] + gatewayErrors;
}

/** All answers of 5xx. */
export function countServerErrors({ operations, gatewayErrors }: Minute): number {
  return operationIds.reduce((sum, id) => {
    const { failed, crashed, refused } = operations[id];
    return sum + failed + crashed + refused;
  }, gatewayErrors);
}
