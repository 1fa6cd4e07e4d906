import { AsyncLocalStorage } from 'node:async_hooks';

/** DynamoDB's request units, which are what a call is billed by. */
export interface RequestUnits {
  read: number;
  write: number;
  /** How many of the writes failed on their condition; their units are among those of `write`. */
  failedWrites: number;
}

const meter = new AsyncLocalStorage<RequestUnits>();

/** Starts a count that goes on through everything the current request does from here. */
export function meterRequest(): RequestUnits {
  const units = { read: 0, write: 0, failedWrites: 0 };
  meter.enterWith(units);
  return units;
}

/** Adds what a call consumed to the current request's count, if one is kept. */
export function countUnits(kind: 'read' | 'write', consumed: number): void {
  const units = meter.getStore();
  if (units) units[kind] += consumed;
}

/**
 * Adds a write whose condition failed, or a cancelled transaction. DynamoDB bills it as if it had succeeded, but
 * does not say how much: by the larger of the stored item and the new one, at least one unit. Ours are below
 * 1 KB, so one unit each, and two in a transaction.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */
export function countFailedWrite(writeUnits: number): void {
  const units = meter.getStore();
  if (units) units.failedWrites += 1;
  countUnits('write', writeUnits);
}
