import { AsyncLocalStorage } from 'node:async_hooks';

/** DynamoDB's request units, which are what a call is billed by. */
export interface RequestUnits {
  read: number;
  write: number;
}

const meter = new AsyncLocalStorage<RequestUnits>();

/** Starts a count that goes on through everything the current request does from here. */
export function meterRequest(): RequestUnits {
  const units = { read: 0, write: 0 };
  meter.enterWith(units);
  return units;
}

/** Adds what a call consumed to the current request's count, if one is kept. */
export function countUnits(kind: keyof RequestUnits, consumed: number): void {
  const units = meter.getStore();
  if (units) units[kind] += consumed;
}
