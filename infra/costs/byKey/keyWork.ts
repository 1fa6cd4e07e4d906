import type { OperationId } from '../../../shared/contract/operations.ts';
import type { GatewayRequests, LoggedRequests } from './logTotals.ts';

/** What stands in the place of a key's name. */
export const withoutKey = {
  /** Refused by a function, with 401 or because the keys could not be read. */
  invalid: '(no valid key)',
  /** For their rate, an unknown path and the like. */
  refused: '(refused by the gateway)',
  /** Preflights, which no function sees. */
  answered: '(answered by the gateway)',
  /** A function was called, and broke off before it could log: a timeout, a crash. */
  unlogged: '(no request line)',
} as const;

/** What some requests with the same key, operation and status were billed by. */
export interface KeyWork {
  readonly key: string;
  /** None for what belongs to no operation, such as an unknown path. */
  readonly operation?: OperationId | undefined;
  readonly status: string;
  readonly isCalled: boolean;
  readonly requests: number;
  readonly milliseconds: number;
  readonly readUnits: number;
  readonly keyReadUnits: number;
  readonly writeUnits: number;
  readonly failedWrites: number;
  /** Those that the gateway logged, and those that it bills. */
  gatewayLines: number;
  gatewayRequests: number;
  bodyBytes: number;
  streamedBytes: number;
  calls: number;
  megabyteMilliseconds: number;
  traced: number;
  logBytes: number;
}

const nothing = {
  requests: 0,
  milliseconds: 0,
  readUnits: 0,
  keyReadUnits: 0,
  writeUnits: 0,
  failedWrites: 0,
  gatewayLines: 0,
  gatewayRequests: 0,
  bodyBytes: 0,
  streamedBytes: 0,
  calls: 0,
  megabyteMilliseconds: 0,
  traced: 0,
  logBytes: 0,
};

export function toLoggedWork({ keyName, ...row }: LoggedRequests): KeyWork {
  return { ...nothing, ...row, key: keyName ?? withoutKey.invalid, isCalled: true };
}

/** The gateway's requests of which no function has a line. */
export function toUnloggedWork(group: GatewayRequests): KeyWork {
  const { isCalled, operation, status, requests, functionMilliseconds } = group;
  const byGateway = Number(status) < 400 ? withoutKey.answered : withoutKey.refused;
  const key = isCalled ? withoutKey.unlogged : byGateway;
  const milliseconds = isCalled ? functionMilliseconds : 0;
  return { ...nothing, key, operation, status, isCalled, requests, milliseconds };
}

/** Calls of which neither the function nor the gateway has a line, such as one that began a day before. */
export function toUnaskedWork(operation: OperationId): KeyWork {
  return { ...nothing, key: withoutKey.unlogged, operation, status: '', isCalled: true };
}
