import type { Fault } from '../../support/faults/faults.ts';
import type { Situation } from './situations.ts';

/** Every way in which the database, or the way to it, fails in the matrix, and whether the call then has no effect. */
const faults = {
  late: false,
  throughputExceeded: true,
  throttled: true,
  requestLimit: true,
  internalServerError: true,
  htmlError: true,
  unavailable: true,
  gatewayTimeout: true,
  refused: true,
  reset: true,
  brokenBody: false,
  resetAfterwards: false,
  lostAnswer: false,
  lostInError: false,
  lostInSilence: false,
  truncated: false,
  emptied: false,
  htmlPage: false,
  notHttp: false,
  trickle: false,
  stalledBody: false,
  hang: true,
  transactionConflict: true,
  transactionCanceled: true,
  transactionThrottled: true,
  transactionInProgress: true,
} as const satisfies Partial<Record<Fault | 'refused', boolean>>;
export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];

/** Whether the call of this fault never takes effect. */
export function hasNoEffect(fault: FaultName): boolean {
  return faults[fault];
}

/** One try of the matrix. */
export interface Cell {
  readonly situation: Situation;
  readonly fault: FaultName;
  /** Whether only the first of the calls fails, or each. */
  readonly times: 'once' | 'always';
}

/** A status, or a connection that broke in mid-answer. */
export type Answered = number | 'broken';

export interface CellResult extends Cell {
  readonly answered: Answered;
  /** From the request to the end of its answer. */
  readonly milliseconds: number;
  /** What the service did wrong; nothing, where it did right. */
  readonly problem?: string;
}

/** Whether the fault can meet this call, and no other: a port that is shut meets whatever comes first. */
export function canMeet({ call, after, coldKey, update }: Situation, fault: FaultName): boolean {
  if (fault === 'transactionConflict') return call.action === 'UpdateItem';
  if (fault.startsWith('transaction')) return call.action === 'TransactWriteItems';
  if (fault !== 'refused' || coldKey) return true;
  if (call.table === 'apiKeys' || after !== undefined) return false;
  return !update || call.action === (update.idempotencyKey ? 'GetItem' : 'UpdateItem');
}

/**
 * What the service may answer. Where a call that was not answered may have changed the entry, it is not
 * known whether an update that is refused had an effect: that is 503.
 */
export function toAllowed({ situation, fault, times }: Cell): readonly Answered[] {
  const { update, call, streams, coldKey } = situation;
  const isUntouched = call.table === 'apiKeys' && !coldKey;
  const right = update?.ifMatch === 'stale' ? 412 : 200;
  if (isUntouched || fault === 'late') return [right];
  if (times === 'once') return right === 412 && call.action === 'UpdateItem' ? [412, 503] : [right];
  const failed = streams ? 'broken' : 503;
  // A short answer is whole before patience ends; one whose connection breaks behind it may be read.
  return fault === 'trickle' || fault === 'resetAfterwards' ? [right, failed] : [failed];
}
