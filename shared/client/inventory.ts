import type { MAX_QUANTITY as ContractMaximum } from '../contract/inventoryUpdate.ts';
import type { PetStatus } from '../contract/values.ts';
import {
  breakError,
  drawBackoff,
  invalidAnswerError,
  openAnswer,
  type PetstoreRequest,
  pause,
  readPieces,
  send,
  withRetries,
} from './call.ts';
import { defineArrayReader } from './json.ts';
import { PetstoreError } from './petstoreError.ts';
import {
  eachPage,
  type InventoryItem,
  type InventoryUpdate,
  PAGE_LIMIT,
  type Page,
  type TaggedInventoryItem,
  toInventoryItem,
  toList,
  toNextCursor,
  toPetIdText,
  toTaggedItem,
} from './resources.ts';
import { type Call, type CallOptions, refuseUnknown } from './settings.ts';

/** Which entries, and what of each. */
export interface InventoryQuery<Include extends Included = Included> {
  /** Leaves out the entries of other statuses. */
  readonly status?: PetStatus | undefined;
  /** 1 to 100 pets: their entries, in this order, without those that do not exist; without a `limit`. */
  readonly petIds?: readonly bigint[] | undefined;
  /** Gives each entry its `etag`. */
  readonly include?: Include;
  /** The most entries that the answer may have: 1 to 1,000. Without one, all of them. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** What an entry can have beside its own members. */
export type Included = 'etag' | undefined;

export type EntryOf<Include extends Included> = Include extends 'etag'
  ? TaggedInventoryItem
  : InventoryItem;

export interface InventoryList<Include extends Included = undefined>
  extends Page<EntryOf<Include>> {
  /** For `ifNoneMatch`. A page has none, and neither has a list of more than some 60,000 entries. */
  etag: string | undefined;
}

export interface UpdatePreconditions {
  /** An entry's `etag`, quotes included: when the entry has changed since, nothing is done (412). */
  readonly ifMatch?: string | undefined;
  /**
   * 1 to 255 visible ASCII characters: the same update with the same key has its effect once, within 24
   * hours. With `ifMatch`, the client makes one up for the attempts of a call.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The new quantity for an entry as it is. */
export type StockChange = (entry: TaggedInventoryItem) => number | Promise<number>;

/** The methods that the inventory has. */
export interface InventoryMethods {
  /** The list, or undefined when it is still the one whose `etag` is given as `ifNoneMatch`. */
  listInventory<Include extends Included = undefined>(
    query: InventoryQuery<Include> & { readonly ifNoneMatch: string | undefined },
    options?: CallOptions,
  ): Promise<InventoryList<Include> | undefined>;
  /** All entries, or those that the query asks for, in one answer: a large inventory is better streamed. */
  listInventory<Include extends Included = undefined>(
    query?: InventoryQuery<Include>,
    options?: CallOptions,
  ): Promise<InventoryList<Include>>;

  /** The inventory page by page: of 1,000 entries where the query has no `limit`. */
  inventoryPages<Include extends Included = undefined>(
    query?: Omit<InventoryQuery<Include>, 'petIds'>,
    options?: CallOptions,
  ): AsyncGenerator<InventoryList<Include>, void, undefined>;

  /**
   * The whole inventory entry by entry, as they arrive, without ever holding all of it. Only its beginning
   * is tried again: a list that breaks off throws `incomplete_list` after the entries that came.
   */
  streamInventory<Include extends Included = undefined>(
    query?: Pick<InventoryQuery<Include>, 'status' | 'include'>,
    options?: CallOptions,
  ): AsyncGenerator<EntryOf<Include>, void, undefined>;

  /**
   * Sets a stock count, whatever it was: where it follows from what was read, use `updateStock`. Sent
   * again after 429; with `ifMatch` also after 5xx, a lost connection or a timeout, with one
   * `Idempotency-Key`, so that it counts once.
   * @returns the entry with its new tag
   */
  updateInventory(
    petId: bigint,
    update: InventoryUpdate,
    options?: CallOptions & UpdatePreconditions,
  ): Promise<TaggedInventoryItem>;

  /**
   * Changes a stock count by what it is, safely among any number of clients: reads the entry, calls
   * `change` for the new quantity, and writes it if nobody else has written since; otherwise begins anew,
   * for as long as `totalTimeout` lets it, and then rejects with `precondition_failed` or `timeout`. When
   * `change` throws, nothing is written and the call rejects with the same. An entry that does not exist
   * is `not_found`.
   * @returns the entry as this update left it
   */
  updateStock(
    petId: bigint,
    change: StockChange,
    options?: CallOptions,
  ): Promise<TaggedInventoryItem>;
}

/** @param names of the options that this call alone has */
export type StartCall = (options?: CallOptions, names?: readonly string[]) => Call;

export function defineInventoryMethods(start: StartCall): InventoryMethods {
  const methods: InventoryMethods = {
    // Without `ifNoneMatch` there is always a list, which its overloads say.
    listInventory: (async (query = {}, options) =>
      listInventory(start(options), query)) as InventoryMethods['listInventory'],

    inventoryPages: (query = {}, options) =>
      eachPage(query.cursor, (cursor) =>
        methods.listInventory({ ...query, limit: query.limit ?? PAGE_LIMIT, cursor }, options),
      ),

    streamInventory: (query = {}, options) => streamInventory(() => start(options), query),

    updateInventory: async (petId, update, options) =>
      updateInventory(start(options, ['ifMatch', 'idempotencyKey']), petId, update, options),

    updateStock: async (petId, change, options) => updateStock(start(options), petId, change),
  };
  return methods;
}

/** @returns undefined when the list is still the one that `ifNoneMatch` names (RFC 9110 section 13.1.2) */
async function listInventory<Include extends Included = undefined>(
  call: Call,
  {
    ifNoneMatch,
    ...query
  }: InventoryQuery<Include> & { readonly ifNoneMatch?: string | undefined },
): Promise<InventoryList<Include> | undefined> {
  refuseUnknown(query, ['status', 'petIds', 'include', 'limit', 'cursor', 'ifNoneMatch']);
  const headers = ifNoneMatch === undefined ? {} : { 'If-None-Match': ifNoneMatch };
  const request = { ...toInventoryRequest(query), headers };
  return send(call, request, ({ status, document, headers }) => {
    if (status === 304 && ifNoneMatch !== undefined) return undefined;
    return {
      items: toList(document, toEntryReader(query.include)),
      etag: headers.get('ETag') ?? undefined,
      next: toNextCursor(headers),
    };
  });
}

/**
 * @param start begins the call, when the first entry is asked for
 * @throws {PetstoreError} also after entries: `incomplete_list` when the list breaks off
 */
async function* streamInventory<Include extends Included>(
  start: () => Call,
  query: InventoryQuery<Include>,
): AsyncGenerator<EntryOf<Include>, void, undefined> {
  refuseUnknown(query, ['status', 'include']);
  const { include } = query;
  const request = toInventoryRequest(query);
  const toEntry = toEntryReader(include);
  const reader = defineArrayReader();
  const call = start();
  const answer = await withRetries(call, true, () => openAnswer(call, request));
  for await (const piece of readPieces(answer)) {
    let entries: EntryOf<Include>[];
    try {
      entries = reader.read(piece).map(toEntry);
    } catch (cause) {
      throw invalidAnswerError(answer, cause);
    }
    yield* entries;
  }
  if (!reader.isWhole) throw breakError(answer);
}

function toInventoryRequest({
  status,
  petIds,
  include,
  limit,
  cursor,
}: InventoryQuery): PetstoreRequest<'listInventory'> {
  const petId = petIds?.map(toPetIdText).join(',');
  return {
    operationId: 'listInventory',
    method: 'GET',
    path: '/inventory',
    query: { status, petId, include, limit, cursor },
    isRepeatable: true,
    answersList: true,
  };
}

function toEntryReader<Include extends Included>(
  include: Include | undefined,
): (document: unknown) => EntryOf<Include> {
  const toEntry = include === 'etag' ? toTaggedItem : toInventoryItem;
  return toEntry as (document: unknown) => EntryOf<Include>;
}

/** The contract's own, whose file would bring a schema library with it. */
const MAX_QUANTITY: typeof ContractMaximum = 2_147_483_647;

/** Without `ifMatch`, the update may be sent again only when the service refused to look at it. */
async function updateInventory(
  call: Call,
  petId: bigint,
  { quantity }: InventoryUpdate,
  { ifMatch, idempotencyKey = ifMatch && drawKey() }: UpdatePreconditions = {},
): Promise<TaggedInventoryItem> {
  if (!Number.isInteger(quantity) || quantity < 0 || quantity > MAX_QUANTITY) {
    const message = `quantity must be an integer from 0 to ${MAX_QUANTITY}, and not ${quantity}.`;
    throw new PetstoreError('invalid_request', message);
  }
  const request: PetstoreRequest<'updateInventory'> = {
    operationId: 'updateInventory',
    method: 'PATCH',
    path: `/inventory/${toPetIdText(petId)}`,
    headers: {
      'Content-Type': 'application/json',
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    body: JSON.stringify({ quantity }),
    isRepeatable: ifMatch !== undefined,
  };
  return send(call, request, ({ document, headers }) =>
    toTaggedItem({ ...(document as object), etag: headers.get('ETag') }),
  );
}

/** 128 random bits. Not `randomUUID`, which a page that came over plain HTTP does not have. */
function drawKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Reads, changes, and writes only where nobody else did in between; otherwise it begins anew. */
async function updateStock(
  call: Call,
  petId: bigint,
  change: StockChange,
): Promise<TaggedInventoryItem> {
  for (let conflicts = 0; ; conflicts += 1) {
    const begun = performance.now();
    const list = await listInventory(call, { petIds: [petId], include: 'etag' });
    const entry = list?.items[0];
    if (!entry) {
      const message = `There is no inventory entry with petId ${petId}.`;
      throw new PetstoreError('not_found', message);
    }
    const quantity = await change(entry);
    try {
      return await updateInventory(call, petId, { quantity }, { ifMatch: entry.etag });
    } catch (error) {
      if (!(error instanceof PetstoreError) || error.code !== 'precondition_failed') throw error;
      // Whoever takes long is in the way for long. Twice that lets two clients hardly wait, and fifty
      // end with the fewest requests.
      const delay = drawBackoff(2 * (performance.now() - begun), conflicts);
      if (delay >= call.timeLeft()) throw error;
      await pause(delay, call.signal);
    }
  }
}
