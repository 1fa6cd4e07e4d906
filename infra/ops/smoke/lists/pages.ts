import type { Asking } from '../asking/asking.ts';
import type { Answer } from '../asking/expectation.ts';
import { Mismatch } from '../asking/failures.ts';
import { type ListedIds, toListedIds } from './listedIds.ts';

/** The most entries that a page can have. */
const MOST_ENTRIES = 1_000;
/** The most pages of one list that are read. */
export const MOST_PAGES = 3;

export interface Entry {
  readonly petId: number | bigint;
  readonly quantity: number;
  readonly status: string;
  readonly etag?: string;
}

/** Some pages of the inventory, from the first on. */
export interface Walk {
  readonly entries: readonly Entry[];
  readonly ids: ListedIds;
  /** The answer with the last of the pages. */
  readonly head: Answer;
}

/** Follows the links to the next page, to the end or until there were enough. */
export async function readPages<Element>(
  asking: Asking,
  path: string,
  limit: number,
): Promise<{ elements: Element[]; isComplete: boolean; last: Answer }> {
  const elements: Element[] = [];
  let last = await asking.ask({ path: `${path}?limit=${limit}` }, 200);
  for (let pages = 1; ; pages += 1) {
    const page = last.json() as Element[];
    if (page.length > limit) {
      throw new Mismatch(last, `at most ${limit} elements`, `with ${page.length} elements`);
    }
    elements.push(...page);
    const next = toNextPath(asking.baseUrl, last);
    if (next !== undefined && page.length === 0) {
      throw new Mismatch(last, 'an element, as it links a next page', 'with []');
    }
    if (next === undefined || pages === MOST_PAGES) {
      return { elements, isComplete: next === undefined, last };
    }
    last = await asking.ask({ path: next }, 200);
  }
}

/** The first pages of the inventory, with each entry once. */
export async function walkInventory(asking: Asking, limit = MOST_ENTRIES): Promise<Walk> {
  const pages = await readPages<Entry>(asking, '/inventory', limit);
  const { elements: entries, isComplete, last: head } = pages;
  const ids = toIds(entries, isComplete);
  const twice = ids.findTwice();
  if (twice !== undefined) throw new Mismatch(head, 'each entry once', `with ${twice} twice`);
  return { entries, ids, head };
}

export function toIds(entries: readonly Entry[], isComplete: boolean): ListedIds {
  return toListedIds(
    BigInt64Array.from(entries, ({ petId }) => BigInt(petId)),
    isComplete,
  );
}

/** Those first whose ids a double would round. */
export function toSample({ entries }: Walk, most: number): Entry[] {
  const isExact = ({ petId }: Entry) => typeof petId === 'bigint';
  return [...entries.filter(isExact), ...entries.filter((one) => !isExact(one))].slice(0, most);
}

/** The link's target relative to the base address, as a client resolves it. */
function toNextPath(baseUrl: string, answer: Answer): string | undefined {
  const link = answer.headers.get('Link');
  if (link === null) return undefined;
  const reference = /^<([^>]+)>; rel="next"$/.exec(link)?.[1] ?? '';
  const { href } = new URL(reference, baseUrl);
  if (href.startsWith(`${baseUrl}/`)) return href.slice(baseUrl.length);
  throw new Mismatch(answer, 'a link to the next page of this stage', `with Link: ${link}`);
}
