import { parseInt64 } from '../../../../shared/contract/values.ts';
import { toExcerpt } from '../asking/failures.ts';
import { type ListedIds, toListedIds } from './listedIds.ts';

/** The text of a list is not that of a whole inventory; the message says where. */
export class ListProblem extends Error {
  override readonly name = 'ListProblem';
}

/** An entry and what stands behind it. */
const element =
  /\{"petId":(-?\d{1,19}),"quantity":(\d{1,10}),"status":"(?:available|pending|sold)"\}([\],])/y;
/** More than any entry has. */
const MOST_CHARACTERS = 100;
const MAX_QUANTITY = 2_147_483_647;

/**
 * Reads a whole inventory while it comes, and keeps nothing of it but the ids.
 * @throws {ListProblem} where an entry is not three members in their one form, and where the list ends
 * without its bracket or goes on behind it
 */
export async function readList(text: AsyncIterable<string>): Promise<ListedIds> {
  let ids = new BigInt64Array(1_024);
  let count = 0;
  let isOpen = false;
  let isClosed = false;

  function add(id: bigint): void {
    if (count === ids.length) {
      const more = new BigInt64Array(2 * count);
      more.set(ids);
      ids = more;
    }
    ids[count] = id;
    count += 1;
  }

  /** @returns what is left */
  function take(read: string): string {
    let at = 0;
    if (!isOpen && /^\[./.test(read)) {
      isOpen = true;
      isClosed = read[1] === ']';
      at = isClosed ? 2 : 1;
    }
    while (isOpen && !isClosed) {
      element.lastIndex = at;
      const [, petId = '', quantity, behind] = element.exec(read) ?? [];
      const id = parseInt64(petId);
      if (id === undefined || Number(quantity) > MAX_QUANTITY) break;
      add(id);
      at = element.lastIndex;
      isClosed = behind === ']';
    }
    return read.slice(at);
  }

  let rest = '';
  for await (const chunk of text) {
    rest = take(rest + chunk);
    if (rest.length > MOST_CHARACTERS) break;
  }
  if (isClosed && rest === '') return toListedIds(ids.slice(0, count), true);
  throw new ListProblem(
    rest === ''
      ? `and ends behind ${count} entries without "]"`
      : `and reads, behind ${count} entries, ${toExcerpt(rest)}`,
  );
}
