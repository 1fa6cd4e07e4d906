import { type Fault, refusals } from '../../support/faults/faults.ts';
import type { Situation } from './situations.ts';

/** The matrix's faults in the database or on the way to it. */
export const faultNames = [
  ...(['late', 'throughputExceeded', 'throttled', 'requestLimit', 'internalServerError'] as const),
  ...(['htmlError', 'unavailable', 'gatewayTimeout', 'refused', 'reset', 'brokenBody'] as const),
  ...(['resetAfterwards', 'lostResponse', 'lostInError', 'lostInSilence', 'truncated'] as const),
  ...(['emptied', 'htmlPage', 'notHttp', 'trickle', 'stalledBody', 'hang'] as const),
  ...(['transactionConflict', 'transactionCanceled', 'transactionThrottled'] as const),
  'transactionInProgress',
] as const satisfies (Fault | 'refused')[];
export type FaultName = (typeof faultNames)[number];

/** Whether a call with this fault never takes effect. */
export function hasNoEffect(fault: FaultName): boolean {
  return fault === 'refused' || fault in refusals;
}

export interface Cell {
  readonly situation: Situation;
  readonly fault: FaultName;
  /** Whether only the first call fails, or every call. */
  readonly times: 'once' | 'always';
}

/** A status, or a connection that broke in mid-response. */
export type Responded = number | 'broken';

export interface CellResult extends Cell {
  readonly responded: Responded;
  /** From the request to the end of its response. */
  readonly milliseconds: number;
  /** The service's mistake; nothing if there is none. */
  readonly problem?: string;
}

/** Whether the fault can hit this call and no other: a closed port hits the first call, of any kind. */
export function canMeet({ call, after, coldKey, update }: Situation, fault: FaultName): boolean {
  if (fault === 'transactionConflict') return call.action === 'UpdateItem';
  if (fault.startsWith('transaction')) return call.action === 'TransactWriteItems';
  if (fault !== 'refused' || coldKey) return true;
  if (call.table === 'apiKeys' || after !== undefined) return false;
  return !update || call.action === (update.idempotencyKey ? 'TransactWriteItems' : 'UpdateItem');
}

/**
 * The responses that the service may give. If a lost call may have changed the entry, nobody knows whether
 * a refused update had an effect: that is 503.
 */
export function toAllowed({ situation, fault, times }: Cell): readonly Responded[] {
  const { update, call, streams, coldKey } = situation;
  const isUntouched = call.table === 'apiKeys' && !coldKey;
  const right = update?.ifMatch === 'stale' ? 412 : 200;
  if (isUntouched || fault === 'late') return [right];
  // After a conflict, reads tell that the entry has changed.
  if (right === 412 && /^transaction(Canceled|Throttled)$/.test(fault)) return [right];
  if (times === 'once') return right === 412 && call.action === 'UpdateItem' ? [412, 503] : [right];
  const failed = streams ? 'broken' : 503;
  // A short response is complete before the timeout; one followed by a broken connection may be read.
  return fault === 'trickle' || fault === 'resetAfterwards' ? [right, failed] : [failed];
}
