import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toStoreCalls } from '../../conformance/localTarget.ts';
import { suites } from '../../conformance/operations/suites.ts';
import { fixtures } from '../../conformance/target.ts';
import type { Fault } from '../../support/faults/faults.ts';

/** Whether only the first call fails, or every call. */
type Times = 'once' | 'always';

/** A request, and the call that fails. Functions look up keys only when that is the call. */
interface Situation {
  readonly name: string;
  readonly call: { readonly action: string; readonly table: string };
  /** How many of these calls succeed first. */
  readonly after?: number;
  /** By default, only the first of them fails, which the retry must hide. */
  readonly times?: readonly Times[];
  /** The most records on a page of the engine. */
  readonly pageSize?: number;
  /** The request, unless it changes entries. Repeated, it gets the same response. */
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly acceptEncoding?: string;
  /** Whether the list is streamed; its entries are then updated meanwhile. */
  readonly streams?: boolean;
  /** Whether the deployed function runs under Lambda's runtime client, in a process of its own. */
  readonly isDeployed?: boolean;
  readonly update?: { readonly ifMatch?: 'current' | 'stale' };
  readonly sale?: Sale;
}

/** Of one or two pets, under a new key. */
interface Sale {
  readonly isCart?: boolean;
  /** Whether one of the pets has too few units. */
  readonly isRefused?: boolean;
  /** Whether the same request has taken effect before. */
  readonly isReplay?: boolean;
}

const ids = [fixtures.changeablePetId, -1n, 5n, 7n].join(',');

const keyTable = { action: 'GetItem', table: 'apiKeys' };
const query = { action: 'Query', table: 'orders' };
const scan = { action: 'Scan', table: 'inventory' };
const write = { action: 'UpdateItem', table: 'inventory' };
const read = { action: 'GetItem', table: 'inventory' };
const transaction = { action: 'TransactWriteItems', table: 'inventory' };
const refusal = { action: 'PutItem', table: 'requests' };

/** By name; each name starts with the operation's. */
type Named = Record<string, Omit<Situation, 'name'>>;

const both = ['once', 'always'] as const;
const whole = { path: '/inventory', call: scan, pageSize: 10 };
/** A page that fails is read again before any of its bytes are coded: only the broken list differs by coding. */
const laterPage = { ...whole, streams: true, after: 2, times: ['always'] } as const;
const gzip = { ...laterPage, acceptEncoding: 'gzip' };
const withTags = '/inventory?include=etag';
const tagged = `/inventory?petId=${fixtures.changeablePetId}&include=etag`;
const batch = { action: 'BatchGetItem', table: 'inventory' };

const own: Named = {
  'listOrders: first page': { path: '/store/orders?limit=3', call: query, times: both },
  'listOrders: later page': { path: 'next of /store/orders?limit=3', call: query },
  'listInventory: whole, first page': { ...whole, times: both },
  'listInventory: limit, first page': { path: '/inventory?limit=10', call: scan },
  'listInventory: limit, later page': { path: 'next of /inventory?limit=10', call: scan },
  'listInventory: several ids': { path: `/inventory?petId=${ids}`, call: batch },
  'listInventory: one id with its tag': { path: tagged, call: read },
  'listInventory: whole, later page': { ...laterPage, times: both },
  'listInventory: whole, later page, gzip, tags': { ...gzip, path: withTags },
  'listInventory: whole, later page, zstd': { ...laterPage, acceptEncoding: 'zstd' },
  'listInventory: whole, later page, gzip, deployed': { ...gzip, isDeployed: true },
  'updateInventory: plain': { update: {}, call: write },
  'updateInventory: If-Match': { update: { ifMatch: 'current' }, call: write, times: both },
  'updateInventory: stale If-Match': { update: { ifMatch: 'stale' }, call: write },
  'updateInventory: stale If-Match, its read': { update: { ifMatch: 'stale' }, call: read },
  'adjustInventory: one pet': { sale: {}, call: transaction },
  'adjustInventory: one pet, the read after it': { sale: {}, call: read },
  'adjustInventory: a cart': { sale: { isCart: true }, call: transaction, times: both },
  'adjustInventory: a cart, the read after it': {
    sale: { isCart: true },
    call: batch,
    times: both,
  },
  'adjustInventory: a replay': { sale: { isReplay: true }, call: transaction },
  'adjustInventory: refused': { sale: { isRefused: true }, call: transaction },
  'adjustInventory: refused, its row': {
    sale: { isRefused: true },
    call: refusal,
    times: both,
  },
  'adjustInventory: a cart, refused': {
    sale: { isCart: true, isRefused: true },
    call: transaction,
  },
};

/** The key lookup, and the first call of an operation without situations of its own. */
function toCommon(operationId: OperationId): Named {
  const valid = suites[operationId].toValidRequest({ fixtures });
  const changes: Partial<Record<OperationId, Pick<Situation, 'update' | 'sale'>>> = {
    updateInventory: { update: {} },
    adjustInventory: { sale: {} },
  };
  const request = changes[operationId] ?? valid;
  const hasOwn = Object.keys(own).some((name) => name.startsWith(`${operationId}:`));
  return {
    [`${operationId}: key lookup`]: { ...request, call: keyTable },
    ...(!hasOwn && {
      [`${operationId}: its call`]: { ...request, call: toStoreCalls(operationId), times: both },
    }),
  };
}

const all: Named = Object.assign({}, ...operationIds.map(toCommon), own);
export const situations = Object.entries(all).map(
  ([name, situation]): Situation => ({ ...situation, name }),
);

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

export interface Cell {
  readonly situation: Situation;
  readonly fault: FaultName;
  readonly times: Times;
}

/** All cells of some faults and situations, the slow ones first, so that no lane has one left at the end. */
export function toCells(faults: readonly FaultName[], chosen: readonly Situation[]): Cell[] {
  return faults
    .toReversed()
    .flatMap((fault) =>
      chosen
        .filter((situation) => canMeet(situation, fault))
        .flatMap((situation): Cell[] =>
          (situation.times ?? ['once']).map((times) => ({ situation, fault, times })),
        ),
    );
}

/** A status, or a connection that broke in mid-response. */
export type Responded = number | 'broken';

export interface CellResult extends Cell {
  readonly responded: Responded;
  readonly milliseconds: number;
  /** The service's mistake; nothing without one. */
  readonly problem?: string;
}

/** Whether the fault can hit this call and no other: a closed port hits the first call, of any kind. */
function canMeet({ call, after, update, sale }: Situation, fault: FaultName): boolean {
  if (fault === 'transactionConflict') return ['UpdateItem', 'PutItem'].includes(call.action);
  if (fault.startsWith('transaction')) return call.action === 'TransactWriteItems';
  if (fault !== 'refused' || call.table === 'apiKeys') return true;
  if (after !== undefined) return false;
  if (!sale && !update) return true;
  return call.action === (sale ? 'TransactWriteItems' : 'UpdateItem');
}

/**
 * The responses that the service may give. After a repeated write, nobody knows whether an update that the entry's
 * version refuses had an effect: that is 503. A conflict certainly had none.
 */
export function toAllowed({ situation, fault, times }: Cell): readonly Responded[] {
  const { update, sale, call, streams } = situation;
  const right = update?.ifMatch === 'stale' ? 412 : sale?.isRefused ? 409 : 200;
  const failed = streams ? 'broken' : 503;
  const isUnknown =
    right === 412 && call.action === 'UpdateItem' && fault !== 'transactionConflict';
  if (fault === 'late' || (times === 'once' && !isUnknown)) return [right];
  // A short response is complete before the timeout; one followed by a broken connection may be read.
  return fault === 'trickle' || fault === 'resetAfterwards' ? [right, failed] : [failed];
}
