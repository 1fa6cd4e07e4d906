import type { Call } from '../http/call.ts';
import { openAnswer, readPieces } from '../http/exchange.ts';
import { withRetries } from '../http/retries.ts';
import { toIncompleteList, toInvalidAnswer } from '../http/send.ts';
import { defineArrayReader } from '../json/arrayReader.ts';
import { toEntryReader, toInventoryRequest } from './listInventory.ts';
import type { EntryOf, Included, InventoryQuery } from './queries.ts';

/**
 * The entries of the whole inventory as they arrive, however many.
 * @param start begins the call, when the first entry is asked for
 * @throws {PetstoreError} also after entries: `incomplete_list` when the list breaks off
 */
export async function* streamInventory<Include extends Included>(
  start: () => Call,
  { status, include }: InventoryQuery<Include>,
): AsyncGenerator<EntryOf<Include>, void, undefined> {
  const request = toInventoryRequest({ status, include });
  const toEntry = toEntryReader(include);
  const reader = defineArrayReader();
  const call = start();
  const answer = await withRetries(call, true, () => openAnswer(call, request));
  for await (const piece of readPieces(answer)) {
    let entries: EntryOf<Include>[];
    try {
      entries = reader.read(piece).map(toEntry);
    } catch (cause) {
      throw toInvalidAnswer(answer, cause);
    }
    yield* entries;
  }
  if (!reader.isWhole) throw toIncompleteList(answer);
}
