import { randomUUID } from 'node:crypto';
import { parseInt64, petStatuses } from '../../../shared/contract/values.ts';
import {
  checkHeader,
  type Expected,
  Mismatch,
  type ResponseHead,
  type StageResponse,
  toExcerpt,
} from './expectation.ts';
import type { SmokeClient } from './smokeClient.ts';

const MAX_QUANTITY = 2_147_483_647;
/** More characters than any entry has. */
const MAX_CHARACTERS = 100;
/** So many entries are certainly worth compressing: some 2.5 KB. */
const MIN_COMPRESSED = 50;

/** What stands before an entry, and the entry. */
const element = new RegExp(
  `([[,])\\{"petId":(-?\\d{1,19}),"quantity":(\\d{1,10}),"status":"(?:${petStatuses.join('|')})"\\}`,
  'y',
);

/**
 * Reads the whole inventory as it comes, and keeps nothing of it.
 * @param petIds some that it must have
 * @returns how many entries there are
 * @throws {Mismatch} where it is no JSON array of entries with three members and exact ids, lacks one of the
 * ids, or comes uncompressed although it is long
 */
export async function readWholeList(
  head: ResponseHead,
  chunks: AsyncIterable<Uint8Array>,
  petIds: readonly string[],
): Promise<number> {
  const missing = new Set(petIds);
  let count = 0;
  let rest = '';
  for await (const chunk of chunks) {
    // What is no ASCII is no entry, however it is decoded.
    rest += Buffer.from(chunk).toString('latin1');
    let at = 0;
    for (;;) {
      element.lastIndex = at;
      const [, before, petId = '', quantity] = element.exec(rest) ?? [];
      if (before !== (count === 0 ? '[' : ',')) break;
      if (parseInt64(petId) === undefined || Number(quantity) > MAX_QUANTITY) break;
      missing.delete(petId);
      count += 1;
      at = element.lastIndex;
    }
    rest = rest.slice(at);
    if (rest.length > MAX_CHARACTERS) break;
  }
  if (rest !== (count === 0 ? '[]' : ']')) {
    const came = `and reads, after ${count} entries, "${toExcerpt(rest)}"`;
    throw new Mismatch(head, 'a whole list', came);
  }
  const [petId] = missing;
  if (petId !== undefined) {
    throw new Mismatch(head, `the entry ${petId}, which the first page has`, 'without it');
  }
  if (count >= MIN_COMPRESSED) checkHeader(head, 'Content-Encoding', 'gzip');
  return count;
}

export const strongTag = /^"[\x21\x23-\x7e]+"$/;

interface Entry {
  readonly petId: number | bigint;
  readonly quantity: number;
  readonly status: string;
  readonly etag?: string;
}

/**
 * Writes an entry's own count, so that the stock is right at every moment: only the tag changes.
 * @throws {Mismatch} also where somebody else updates the entry meanwhile
 */
export async function writeEntryBack(client: SmokeClient, petId: string): Promise<void> {
  const [, entry] = await readEntry(client, petId);

  function update(headers: Record<string, string>, expected: Expected): Promise<StageResponse> {
    const request = { method: 'PATCH', path: `/inventory/${petId}` };
    const conditions = { 'Content-Type': 'application/json', 'If-Match': `${entry.etag}` };
    const body = `{"quantity":${entry.quantity}}`;
    return client.send({ ...request, headers: { ...conditions, ...headers }, body }, expected);
  }

  const idempotencyKey = { 'Idempotency-Key': randomUUID() };
  const updated = await update(idempotencyKey, 200);
  checkSame(updated, updated.json() as Entry, entry);
  checkHeader(updated, 'ETag', strongTag, 'a strong tag');
  const tag = `${updated.headers.get('ETag')}`;
  checkHeader(await update(idempotencyKey, 200), 'ETag', tag, `${tag}, as the first time`);
  checkHeader(await update({}, 'precondition_failed'), 'ETag', tag);
  const [read, after] = await readEntry(client, petId);
  if (after.etag !== tag) throw new Mismatch(read, `the etag ${tag}`);
  checkSame(read, after, entry);
}

/** The entry with its tag. Only that of this very id, and under a tag, may be written back. */
async function readEntry(client: SmokeClient, petId: string): Promise<[StageResponse, Entry]> {
  const response = await client.send({ path: `/inventory?petId=${petId}&include=etag` }, 200);
  const [entry] = response.json() as Entry[];
  if (`${entry?.petId}` === petId && entry?.etag) return [response, entry];
  throw new Mismatch(response, `the entry ${petId} with its etag`);
}

function checkSame(response: StageResponse, found: Entry, expected: Entry): void {
  const toWords = ({ petId, quantity, status }: Entry) => `${petId} ${quantity} ${status}`;
  if (toWords(found) !== toWords(expected)) throw new Mismatch(response, toWords(expected));
}
