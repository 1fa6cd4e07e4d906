import { AsyncLocalStorage } from 'node:async_hooks';

/** DynamoDB's request units, which determine a call's bill. */
export interface RequestUnits {
  read: number;
  write: number;
  /** Number of writes with a failed condition; `write` includes their units. */
  failedWrites: number;
}

const meter = new AsyncLocalStorage<RequestUnits>();

/** Starts a count for everything that the current request does from here on. */
export function meterRequest(): RequestUnits {
  const units = { read: 0, write: 0, failedWrites: 0 };
  meter.enterWith(units);
  return units;
}

/** Whether DynamoDB bills a call by write units: an action such as `PutItem`, or the SDK's name of its command. */
export function isWrite(call: string): boolean {
  return /^(BatchWrite|Delete|Put|TransactWrite|Update)/.test(call);
}

/** Adds a call's units to the current request's count, if there is one. */
export function countUnits(kind: 'read' | 'write', consumed: number): void {
  const units = meter.getStore();
  if (units) units[kind] += consumed;
}

/**
 * Adds a write with a failed condition, or a cancelled transaction. DynamoDB bills it like a successful write, but
 * does not report the units. They depend on the larger of the stored item and the new one, and are at least one. Our
 * items are below 1 KB, so each is one unit, and two in a transaction.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */
export function countFailedWrite(writeUnits: number): void {
  const units = meter.getStore();
  if (units) units.failedWrites += 1;
  countUnits('write', writeUnits);
}
