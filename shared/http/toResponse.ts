import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { toJson } from '../contract/json.ts';
import type { HttpResponse } from './operationRequest.ts';

/** What an operation answers when all went well. */
export type Reply =
  /** One document; a version, where the operation has one, becomes its `ETag`. */
  | { readonly body: unknown; readonly version?: string }
  /** An array whose elements come page by page, each page as JSON separated by commas. */
  | { readonly pages: Pages };

type Pages = AsyncGenerator<string, void, undefined>;

export async function toResponse(reply: Reply): Promise<HttpResponse> {
  const headers = { 'Content-Type': 'application/json' };
  if ('pages' in reply) return { statusCode: 200, headers, body: await toArrayStream(reply.pages) };
  const { body, version } = reply;
  return {
    statusCode: 200,
    headers: { ...headers, ...(version !== undefined && { ETag: `"${version}"` }) },
    body: toJson(body),
  };
}

/** Waits for the first page, so that a failure up to there is still answered as an error. */
async function toArrayStream(pages: Pages): Promise<Readable> {
  // A stream asks for more whenever the client's connection drains, which is outside the request's own
  // asynchronous context, where its request units are counted.
  const nextPage = AsyncLocalStorage.bind(() => pages.next());
  return Readable.from(toArrayText(await nextPage(), nextPage));
}

async function* toArrayText(
  first: IteratorResult<string, void>,
  nextPage: () => ReturnType<Pages['next']>,
): AsyncGenerator<string> {
  yield `[${first.value ?? ''}`;
  for (let page = await nextPage(); !page.done; page = await nextPage()) yield `,${page.value}`;
  yield ']';
}
