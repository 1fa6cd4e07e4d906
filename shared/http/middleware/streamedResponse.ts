import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Operation } from '../../contract/operation.ts';
import { chooseContentCoding, compress } from '../contentCoding.ts';
import { matchesIfNoneMatch } from '../entityTags.ts';
import {
  type HttpResponse,
  type OperationMiddleware,
  type OperationRequest,
  type Pages,
  type Reply,
  readHeader,
} from '../operationRequest.ts';
import { inTime } from '../requestTime.ts';
import { bufferedResponse } from './bufferedResponse.ts';

/** A smaller body is not compressed: that would save less than a network packet. */
const COMPRESSED_FROM_BYTES = 1_024;

/**
 * As `bufferedResponse`, and streams an array's pages. It reads the first page before it sends the status, so that a
 * failure until then is an error response. A later failure breaks the connection, so that a client never takes a
 * truncated list as complete. An array of one page has an `ETag`, and is not sent to a client that already has it.
 */
export function streamedResponse(operation: Operation): OperationMiddleware {
  const { after: sendDocument } = bufferedResponse(operation);

  async function sendPages(request: OperationRequest): Promise<void> {
    const reply = request.response as unknown as Reply;
    if ('pages' in reply) {
      const { internal } = request;
      request.response = await inTime(internal, respondWithPages(reply.pages, request));
    } else sendDocument(request);
    request.internal.firstByteAt = Date.now();
  }

  return { after: sendPages };
}

async function respondWithPages(pages: Pages, request: OperationRequest): Promise<HttpResponse> {
  // A stream reads more when the client's connection drains. That is outside the request's asynchronous context,
  // which counts its request units.
  const nextPage = AsyncLocalStorage.bind(() => pages.next());
  const { value: first = { items: Buffer.alloc(0), isLast: true } } = await nextPage();
  const headers: Record<string, string> = { Vary: 'Accept-Encoding' };
  if (first.isLast) {
    headers.ETag = computeEntityTag(first.items);
    if (matchesIfNoneMatch(readHeader(request, 'if-none-match'), headers.ETag)) {
      return { statusCode: 304, headers, body: '' };
    }
  }
  headers['Content-Type'] = 'application/json';
  const body = toArrayText(first.items, pages, nextPage);
  const coding = chooseContentCoding(readHeader(request, 'accept-encoding'));
  if (first.items.length < COMPRESSED_FROM_BYTES || !coding) {
    return { statusCode: 200, headers, body };
  }
  return {
    statusCode: 200,
    headers: { ...headers, 'Content-Encoding': coding },
    body: compress(body, coding),
  };
}

async function* toArrayText(
  first: Buffer,
  pages: Pages,
  nextPage: () => ReturnType<Pages['next']>,
): AsyncGenerator<string | Buffer> {
  let isEmpty = first.length === 0;
  try {
    yield '[';
    yield first;
    for (let page = await nextPage(); !page.done; page = await nextPage()) {
      if (page.value.items.length === 0) continue;
      if (!isEmpty) yield ',';
      isEmpty = false;
      yield page.value.items;
    }
    yield ']';
  } finally {
    await pages.return();
  }
}

/** Weak, since compressed and uncompressed bodies share the tag (RFC 9110 section 8.8.3.3). */
function computeEntityTag(items: Buffer): string {
  return `W/"${createHash('sha256').update(items).digest('base64url').slice(0, 22)}"`;
}
