import type { Call } from '../http/call.ts';
import type { PetstoreRequest } from '../http/exchange.ts';
import { send } from '../http/send.ts';
import { toNextCursor } from './pages.ts';
import { toPetIdText } from './petIdText.ts';
import type { EntryOf, Included, InventoryList, InventoryQuery } from './queries.ts';
import { toInventoryItem, toList, toTaggedItem } from './readResources.ts';

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

export function toInventoryRequest({
  status,
  petIds,
  include,
  limit,
  cursor,
}: InventoryQuery): PetstoreRequest<'listInventory'> {
  const petId = petIds?.map(toPetIdText).join(',');
  return {
    operationId: 'listInventory',
    query: { status, petId, include, limit, cursor },
    isRepeatable: true,
    answersList: true,
  };
}

export function toEntryReader<Include extends Included>(
  include: Include | undefined,
): (document: unknown) => EntryOf<Include> {
  const toEntry = include === 'etag' ? toTaggedItem : toInventoryItem;
  return toEntry as (document: unknown) => EntryOf<Include>;
}
