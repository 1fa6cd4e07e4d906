import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import type { StageSettings } from './stageSettings.ts';

/**
 * The part of an account's concurrency that no function can reserve:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
const NEVER_RESERVED = 100;

type ConcurrencySettings = Pick<StageSettings, 'accountConcurrency' | 'reservedConcurrency'>;

const STREAMED_SHARE = 0.2;

/**
 * How many calls of a function may run at once; `undefined` for as many as the account has left. A streamed list runs
 * on, and is billed, after its client has left. Such lists could use up the account's concurrency. If its quota is
 * known and large enough, they get a share of it.
 */
export function findReservedConcurrency(
  settings: ConcurrencySettings,
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

/** Whether the account has enough concurrency for what the functions reserve. */
export function canReserve(settings: ConcurrencySettings): boolean {
  const sum = sumReserved(settings);
  const { accountConcurrency = 0 } = settings;
  return sum === 0 || sum <= accountConcurrency - NEVER_RESERVED;
}

function sumReserved({ reservedConcurrency = {} }: ConcurrencySettings): number {
  return operationIds.reduce((sum, id) => sum + (reservedConcurrency[id] ?? 0), 0);
}
