import type { PetStatus } from '../../contract/values/petStatus.ts';
import type { Call } from '../http/call.ts';
import { send } from '../http/send.ts';
import { type Page, toNextCursor } from './pages.ts';
import { toPetIdText } from './petIdText.ts';
import { toInventoryItem, toList, toTaggedItem } from './readResources.ts';
import type { InventoryItem, TaggedInventoryItem } from './resources.ts';

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

/** @returns undefined when the list is still the one that `ifNoneMatch` names (RFC 9110 section 13.1.2) */
export async function listInventory<Include extends Included = undefined>(
  call: Call,
  {
    ifNoneMatch,
    ...query
  }: InventoryQuery<Include> & { readonly ifNoneMatch?: string | undefined },
): Promise<InventoryList<Include> | undefined> {
  const request = {
    ...toInventoryRequest(query),
    ...(ifNoneMatch !== undefined && { headers: { 'If-None-Match': ifNoneMatch } }),
  };
  return send(call, request, ({ status, document, headers }) => {
    if (status === 304 && ifNoneMatch !== undefined) return undefined;
    return {
      items: toList(document, toEntryReader(query.include)),
      etag: headers.get('ETag') ?? undefined,
      next: toNextCursor(headers),
    };
  });
}

export function toInventoryRequest({ status, petIds, include, limit, cursor }: InventoryQuery) {
  const petId = petIds?.map(toPetIdText).join(',');
  return {
    operationId: 'listInventory',
    query: { status, petId, include, limit, cursor },
    isRepeatable: true,
    answersList: true,
  } as const;
}

export function toEntryReader<Include extends Included>(
  include: Include | undefined,
): (document: unknown) => EntryOf<Include> {
  const toEntry = include === 'etag' ? toTaggedItem : toInventoryItem;
  return toEntry as (document: unknown) => EntryOf<Include>;
}
