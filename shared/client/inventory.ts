import {
  DELTA_ERROR,
  INT64_ERROR,
  MAX_ADJUSTMENTS,
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
  isInt64,
  PAGE_LIMIT,
  type Page,
  PET_ID_ERROR,
  readNextCursor,
  type TaggedInventoryItem,
  toInventoryItem,
  toList,
  toPetIdText,
  toTaggedItem,
} from './resources.ts';
import { type Call, type CallOptions, refuseInvalidHeaders, refuseUnknown } from './settings.ts';

/** Selects entries and their members. */
export interface InventoryQuery<Include extends Included = Included> {
  /** Only entries with this status. */
  readonly status?: PetStatus | undefined;
  /** 1 to 100 ids: their entries in this order, without those that do not exist. Not with `limit` or `cursor`. */
  readonly petIds?: readonly bigint[] | undefined;
  /** Gives each entry its `etag`. */
  readonly include?: Include;
  /** Maximum entries in the response: 1 to 1,000. By default all entries, or 100 with a `cursor`. */
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
   * For `ifNoneMatch`. There is none for a page, for a list by `petIds`, or while the whole inventory takes more than
   * 1 MB in the database. 1 MB holds at least 20,000 entries.
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
   * Sets a stock count, such as after a stocktake. The client does not repeat an update that may have taken effect: read
   * the entry. To sell or to return, use `adjustInventory`.
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
   * `quantity_out_of_range`) is the outcome of the key too: a new attempt needs a new key. In its error, `refused`
   * names the pets that could not be sold or returned.
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
    listInventory: (async (query, options) =>
      listInventory(start(options), query)) as InventoryMethods['listInventory'],

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
      requireInput(isCount(quantity, 0), `quantity ${quantityError(0)}, not ${quantity}`);
      const request: PetstoreRequest<'updateInventory'> = {
        operationId: 'updateInventory',
        method: 'PATCH',
        path: `/inventory/${toPetIdText(petId)}`,
        headers: { 'If-Match': options?.ifMatch },
        body: JSON.stringify({ quantity }),
      };
      return send(call, request, (whole) => readTaggedEntry(petId, whole));
    },

    adjustInventory: async (adjustments, options) =>
      adjustInventory(start(options, ['idempotencyKey']), adjustments, options?.idempotencyKey),
  };
  return methods;
}

async function listInventory(
  call: Call,
  { ifNoneMatch, petIds, ...query }: InventoryQuery & Partial<EntryPreconditions> = {},
) {
  refuseUnknown(query, ['status', 'petIds', 'include', 'limit', 'cursor', 'ifNoneMatch']);
  refuseInvalidHeaders({ ifNoneMatch });
  // Without ids, the response would be the whole inventory.
  if (petIds !== undefined && !Array.isArray(petIds)) {
    throw new TypeError('petIds must be an array of bigints.');
  }
  const request: PetstoreRequest<'listInventory'> = {
    operationId: 'listInventory',
    method: 'GET',
    path: '/inventory',
    query: { ...query, petId: petIds?.map(toPetIdText).join(',') },
    headers: { 'If-None-Match': ifNoneMatch },
    isList: true,
  };
  const toEntry = query.include === 'etag' ? toTaggedItem : toInventoryItem;
  return send(call, request, ({ status, document, headers }) => {
    if (status === 304) return undefined;
    return {
      items: toList(document, toEntry),
      etag: headers.get('ETag') ?? undefined,
      next: readNextCursor(headers),
    };
  });
}

async function adjustInventory(
  call: Call,
  adjustments: readonly InventoryAdjustment[],
  idempotencyKey = '',
): Promise<AdjustedInventory> {
  // It is required.
  refuseInvalidHeaders({ idempotencyKey });
  const deltas = parseAdjustments(adjustments);
  const texts = Array.from(deltas, ([petId, delta]) => `{"petId":${petId},"delta":${delta}}`);
  const request: PetstoreRequest<'adjustInventory'> = {
    operationId: 'adjustInventory',
    method: 'POST',
    path: '/inventory/adjustments',
    headers: { 'Idempotency-Key': idempotencyKey },
    body: `{"adjustments":[${texts}]}`,
  };
  return send(call, request, ({ document }) => {
    const entries = toList((document as AdjustedInventory).entries, toInventoryItem);
    for (const { petId } of entries) requireAsked(deltas.has(petId));
    return { entries };
  });
}

function readTaggedEntry(petId: bigint, { document, headers }: WholeResponse): TaggedInventoryItem {
  const entry = toTaggedItem({ ...(document as object), etag: headers.get('ETag') });
  requireAsked(entry.petId === petId);
  return entry;
}

function requireAsked(isAsked: boolean): void {
  if (!isAsked) throw new TypeError('It is about another entry.');
}

/**
 * @returns the deltas by pet
 * @throws {TypeError} if a member has the wrong type: a mistake in the program
 * @throws {PetstoreError} if a value is invalid, which a customer may have typed
 */
function parseAdjustments(adjustments: readonly InventoryAdjustment[]): Map<bigint, number> {
  if (!Array.isArray(adjustments)) {
    throw new TypeError('adjustments must be an array of { petId, delta }.');
  }
  const deltas = new Map<bigint, number>();
  for (const [index, adjustment] of adjustments.entries()) {
    const { petId, delta } = Object(adjustment);
    const name = `adjustments[${index}]`;
    if (typeof petId !== 'bigint') throw new TypeError(`${name}.${PET_ID_ERROR}`);
    if (typeof delta !== 'number') throw new TypeError(`${name}.delta must be a number.`);
    requireInput(isInt64(petId), `${name}.petId ${INT64_ERROR}, not ${petId}`);
    const isDelta = isCount(Math.abs(delta), 1);
    requireInput(isDelta, `${name}.delta ${DELTA_ERROR}: it is ${delta}`);
    requireInput(!deltas.has(petId), `adjustments has petId ${petId} twice: add its deltas`);
    deltas.set(petId, delta);
  }
  const isFew = deltas.size >= 1 && deltas.size <= MAX_ADJUSTMENTS;
  requireInput(isFew, `adjustments must have 1 to ${MAX_ADJUSTMENTS} elements, not ${deltas.size}`);
  return deltas;
}

function requireInput(isValid: boolean, problem: string): void {
  if (!isValid) throw new PetstoreError('invalid_request', `${problem}.`);
}
