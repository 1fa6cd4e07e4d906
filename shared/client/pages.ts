/** A part of a list, or all of it. */
export interface Page<Element> {
  items: Element[];
  /** The `cursor` of the page behind this one; undefined after the last. */
  next: string | undefined;
}

/** Elements that a page has where the caller does not say: as many as the service gives at once. */
export const PAGE_LIMIT = 1_000;

/** Reads page after page until there is none. */
export async function* eachPage<OnePage extends Page<unknown>>(
  first: string | undefined,
  readPage: (cursor: string | undefined) => Promise<OnePage>,
): AsyncGenerator<OnePage, void, undefined> {
  let cursor = first;
  do {
    const page = await readPage(cursor);
    yield page;
    cursor = page.next;
  } while (cursor !== undefined);
}

/**
 * The cursor in the `next` link (RFC 8288). Not the link itself, so that the key goes to no address but
 * the one that it was given for.
 * @throws {TypeError} when the link has none, which must not look like the last page
 */
export function toNextCursor(headers: Headers): string | undefined {
  const link = toLink(headers, 'next');
  if (link === undefined) return undefined;
  const cursor = /[?&]cursor=([^&]+)/.exec(link)?.[1];
  if (cursor === undefined) throw new TypeError('The next link has no cursor.');
  return decodeURIComponent(cursor);
}

/** The target of the link with this relation, where the answer has one (`Link`, RFC 8288). */
export function toLink(headers: Headers, relation: string): string | undefined {
  for (const [, target, parameters = ''] of (headers.get('Link') ?? '').matchAll(link)) {
    if (new RegExp(`;\\s*rel="?${relation}"?\\s*(;|$)`).test(parameters)) return target;
  }
  return undefined;
}

const link = /<([^>]*)>([^,<]*)/g;
