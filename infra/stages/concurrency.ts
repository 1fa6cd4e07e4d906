import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import type { StageSettings } from './stageSettings.ts';

/**
 * Of an account's concurrency, what no function can reserve:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
const NEVER_RESERVED = 100;

/** The share of the account's concurrency that lists sent as streams may take. */
const STREAMED_SHARE = 0.2;

/**
 * Calls of a function that may run at once; `undefined` for as many as the account has left. A streamed
 * list runs on, and is billed, after its client has left, so lists that nobody waits for could take every
 * call of the account: where its quota is known and large enough, they get a part of it.
 */
export function toReservedConcurrency(
  settings: StageSettings,
  id: OperationId,
): number | undefined {
  const { reservedConcurrency = {}, accountConcurrency } = settings;
  const reserved = reservedConcurrency[id];
  if (reserved !== undefined || !operations[id].streamed || accountConcurrency === undefined) {
    return reserved;
  }
  const share = Math.floor(accountConcurrency * STREAMED_SHARE);
  return share <= accountConcurrency - NEVER_RESERVED - sumReserved(settings) ? share : undefined;
}

/** Whether the account has enough for what functions are told to reserve. */
export function canReserve(settings: StageSettings): boolean {
  const sum = sumReserved(settings);
  const { accountConcurrency = 0 } = settings;
  return sum === 0 || sum <= accountConcurrency - NEVER_RESERVED;
}

function sumReserved({ reservedConcurrency = {} }: StageSettings): number {
  return operationIds.reduce((sum, id) => sum + (reservedConcurrency[id] ?? 0), 0);
}
