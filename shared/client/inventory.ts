import {
  DELTA_ERROR,
  MAX_ADJUSTMENTS,
  MAX_QUANTITY,
  type PetStatus,
  quantityError,
} from '../contract/values.ts';
import type { PetstoreRequest, WholeResponse } from './attempt.ts';
import { send } from './call.ts';
import { PetstoreError } from './petstoreError.ts';
import {
  eachPage,
  type InventoryAdjustment,
  type InventoryItem,
  type InventoryUpdate,
  isCount,
  PAGE_LIMIT,
  type Page,
  readNextCursor,
  type TaggedInventoryItem,
  toInventoryItem,
  toList,
  toPetIdText,
  toTaggedItem,
} from './resources.ts';
import { type Call, type CallOptions, refuseNoHeaders, refuseUnknown } from './settings.ts';

/** Selects entries and their members. */
export interface InventoryQuery<Include extends Included = Included> {
  /** Only entries with this status. */
  readonly status?: PetStatus | undefined;
  /** 1 to 100 ids: their entries in this order, without those that do not exist. Not with `limit` or `cursor`. */
  readonly petIds?: readonly bigint[] | undefined;
  /** Gives each entry its `etag`. */
  readonly include?: Include;
  /** Maximum entries in the response: 1 to 1,000. Without a limit, all entries. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly cursor?: string | undefined;
}

/** Optional members of an entry. */
export type Included = 'etag' | undefined;

export type EntryOf<Include extends Included> = Include extends 'etag'
  ? TaggedInventoryItem
  : InventoryItem;

export interface InventoryList<Include extends Included = undefined>
  extends Page<EntryOf<Include>> {
  /**
   * For `ifNoneMatch`. Pages and lists by `petIds` have none, nor has an inventory longer than a page of DynamoDB. That
   * is 1 MB, at least 20,000 entries.
   */
  etag: string | undefined;
}

export interface EntryPreconditions {
  /** An entry's `etag`. If the entry has not changed since, the result is undefined. */
  readonly ifNoneMatch: string | undefined;
}

export interface OutcomeOptions {
  /**
   * 1 to 255 visible ASCII characters, such as the id of the order. One key has one outcome, for 30 days, and only the
   * same adjustments may be sent with it again.
   */
  readonly idempotencyKey: string;
}

export interface AdjustedInventory {
  /** In the order of the adjustments. They may include later changes. */
  entries: InventoryItem[];
}

export interface UpdatePreconditions {
  /** An entry's `etag`, quotes included. If the entry has changed since, the update has no effect (412). */
  readonly ifMatch?: string | undefined;
}

export interface InventoryMethods {
  /** The list, or undefined if it still has the `etag` given as `ifNoneMatch`. */
  listInventory<Include extends Included = undefined>(
    query: InventoryQuery<Include> & { readonly ifNoneMatch: string | undefined },
    options?: CallOptions,
  ): Promise<InventoryList<Include> | undefined>;
  /** All entries, or those that the query selects, in one response. */
  listInventory<Include extends Included = undefined>(
    query?: InventoryQuery<Include>,
    options?: CallOptions,
  ): Promise<InventoryList<Include>>;

  /** One entry, or undefined if it still has the `etag` given as `ifNoneMatch`. */
  getInventoryEntry(
    petId: bigint,
    options: CallOptions & EntryPreconditions,
  ): Promise<TaggedInventoryItem | undefined>;
  /** One entry with its tag. If it does not exist, the call rejects with `not_found`. */
  getInventoryEntry(petId: bigint, options?: CallOptions): Promise<TaggedInventoryItem>;

  /** The inventory page by page. Without a `limit`, a page has up to 1,000 entries. */
  inventoryPages<Include extends Included = undefined>(
    query?: Omit<InventoryQuery<Include>, 'petIds'>,
    options?: CallOptions,
  ): AsyncGenerator<InventoryList<Include>, void, undefined>;

  /**
   * Sets a stock count, such as after a stocktake. To sell or to return, use `adjustInventory`. It is not repeated after
   * an attempt that may have taken effect: read the entry.
   * @returns the entry with its new tag
   */
  updateInventory(
    petId: bigint,
    update: InventoryUpdate,
    options?: CallOptions & UpdatePreconditions,
  ): Promise<TaggedInventoryItem>;

  /**
   * Adds to the stock counts of 1 to 10 pets, all or none: negative deltas sell, positive ones return. It is retried as
   * reads are, and takes effect once. A refusal (`not_found`, `not_for_sale`, `insufficient_stock`,
   * `quantity_out_of_range`) is the outcome of the key too: a new attempt needs a new key. Its error names the pets in
   * `refused`.
   * @throws {TypeError} if a member has the wrong type
   */
  adjustInventory(
    adjustments: readonly InventoryAdjustment[],
    options: CallOptions & OutcomeOptions,
  ): Promise<AdjustedInventory>;
}

/** @param names of the options that this call alone has */
export type StartCall = (options?: CallOptions, names?: readonly string[]) => Call;

export function defineInventoryMethods(start: StartCall): InventoryMethods {
  const methods: InventoryMethods = {
    // As the overloads say, there is always a list without `ifNoneMatch`.
    listInventory: (async (
      { ifNoneMatch, ...query }: InventoryQuery & Partial<EntryPreconditions> = {},
      options?: CallOptions,
    ) => {
      const call = start(options);
      refuseUnknown(query, ['status', 'petIds', 'include', 'limit', 'cursor', 'ifNoneMatch']);
      refuseNoHeaders({ ifNoneMatch });
      const conditions = { headers: { 'If-None-Match': ifNoneMatch } };
      const request = { ...buildInventoryRequest(query), ...conditions };
      return send(call, request, ({ status, document, headers }) => {
        if (status === 304) return undefined;
        return {
          items: toList(document, chooseEntryReader(query.include)),
          etag: headers.get('ETag') ?? undefined,
          next: readNextCursor(headers),
        };
      });
    }) as InventoryMethods['listInventory'],

    // As the overloads say, there is always an entry without `ifNoneMatch`.
    getInventoryEntry: (async (
      petId: bigint,
      options?: CallOptions & Partial<EntryPreconditions>,
    ) => {
      const call = start(options, ['ifNoneMatch']);
      const request: PetstoreRequest<'getInventoryEntry'> = {
        operationId: 'getInventoryEntry',
        method: 'GET',
        path: `/inventory/${toPetIdText(petId)}`,
        headers: { 'If-None-Match': options?.ifNoneMatch },
      };
      return send(call, request, (whole) =>
        whole.status === 304 ? undefined : readTaggedEntry(petId, whole),
      );
    }) as InventoryMethods['getInventoryEntry'],

    inventoryPages: (query = {}, options) =>
      eachPage(query.cursor, (cursor) =>
        methods.listInventory({ ...query, limit: query.limit ?? PAGE_LIMIT, cursor }, options),
      ),

    async updateInventory(petId, { quantity }, options) {
      const call = start(options, ['ifMatch']);
      if (!isCount(quantity, 0)) {
        const message = `quantity ${quantityError(0)}, not ${quantity}.`;
        throw new PetstoreError('invalid_request', message);
      }
      const request: PetstoreRequest<'updateInventory'> = {
        operationId: 'updateInventory',
        method: 'PATCH',
        path: `/inventory/${toPetIdText(petId)}`,
        headers: { 'If-Match': options?.ifMatch },
        body: JSON.stringify({ quantity }),
      };
      return send(call, request, (whole) => readTaggedEntry(petId, whole));
    },

    async adjustInventory(adjustments, options) {
      const call = start(options, ['idempotencyKey']);
      const { idempotencyKey = '' } = options ?? {};
      // It is required.
      refuseNoHeaders({ idempotencyKey });
      const request: PetstoreRequest<'adjustInventory'> = {
        operationId: 'adjustInventory',
        method: 'POST',
        path: '/inventory/adjustments',
        headers: { 'Idempotency-Key': idempotencyKey },
        body: toAdjustmentsText(adjustments),
      };
      return send(call, request, ({ document }) => {
        const entries = toList((document as AdjustedInventory).entries, toInventoryItem);
        const isAsked = ({ petId }: InventoryItem) =>
          adjustments.some((one) => one.petId === petId);
        if (!entries.every(isAsked)) throw new TypeError('It is about other entries.');
        return { entries };
      });
    },
  };
  return methods;
}

function buildInventoryRequest({
  petIds,
  ...query
}: InventoryQuery): PetstoreRequest<'listInventory'> {
  // Without ids, the response would be the whole inventory.
  if (petIds !== undefined && !Array.isArray(petIds)) {
    throw new TypeError('petIds must be an array of bigints.');
  }
  return {
    operationId: 'listInventory',
    method: 'GET',
    path: '/inventory',
    query: { ...query, petId: petIds?.map(toPetIdText).join(',') },
    isList: true,
  };
}

function chooseEntryReader<Include extends Included>(
  include: Include | undefined,
): (document: unknown) => EntryOf<Include> {
  const toEntry = include === 'etag' ? toTaggedItem : toInventoryItem;
  return toEntry as (document: unknown) => EntryOf<Include>;
}

function readTaggedEntry(petId: bigint, { document, headers }: WholeResponse): TaggedInventoryItem {
  const entry = toTaggedItem({ ...(document as object), etag: headers.get('ETag') });
  if (entry.petId !== petId) throw new TypeError('It is about another entry.');
  return entry;
}

/**
 * @throws {TypeError} if a member has the wrong type: a mistake in the program
 * @throws {PetstoreError} if a customer's cart is invalid
 */
function toAdjustmentsText(adjustments: readonly InventoryAdjustment[]): string {
  if (!Array.isArray(adjustments)) throw new TypeError('adjustments must be an array.');
  // Not `map`, which skips holes.
  const texts = Array.from(adjustments, toAdjustmentText);
  if (texts.length < 1 || texts.length > MAX_ADJUSTMENTS) {
    throw invalidCart(`must be 1 to ${MAX_ADJUSTMENTS}, not ${texts.length}`);
  }
  const petIds = new Set<bigint>();
  for (const { petId } of adjustments) {
    if (petIds.has(petId)) throw invalidCart(`have petId ${petId} twice: add its deltas`);
    petIds.add(petId);
  }
  return `{"adjustments":[${texts}]}`;
}

function toAdjustmentText(adjustment: InventoryAdjustment, index: number): string {
  const name = `adjustments[${index}]`;
  const { petId, delta } = Object(adjustment) as InventoryAdjustment;
  if (typeof petId !== 'bigint') {
    throw new TypeError(`${name}.petId must be a bigint, such as 7n or BigInt("7").`);
  }
  if (typeof delta !== 'number') throw new TypeError(`${name}.delta must be a number, such as -1.`);
  if (BigInt.asIntN(64, petId) !== petId) throw invalidCart(`have no valid petId: ${petId}`);
  if (!Number.isInteger(delta) || delta === 0 || Math.abs(delta) > MAX_QUANTITY) {
    throw invalidCart(`of petId ${petId}: the delta ${DELTA_ERROR}, not ${delta}`);
  }
  return `{"petId":${petId},"delta":${delta}}`;
}

function invalidCart(problem: string): PetstoreError {
  return new PetstoreError('invalid_request', `adjustments ${problem}.`);
}
