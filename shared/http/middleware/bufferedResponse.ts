import type { Operation } from '../../contract/operation.ts';
import { toJson } from '../../contract/values.ts';
import { matchesIfNoneMatch } from '../entityTags.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';
import type { DocumentReply } from '../reply.ts';

/**
 * Converts the handler's document to a response. A document with a tag is not sent to a client that already has it, if
 * the operation reads `If-None-Match`.
 */
export function bufferedResponse({ requestHeaders = [] }: Operation): OperationMiddleware {
  const readsIfNoneMatch = requestHeaders.includes('If-None-Match');

  function sendDocument(request: OperationRequest): void {
    const { body, version, next, isReplay } = request.response as unknown as DocumentReply;
    const tag = version !== undefined && { ETag: `"${version}"` };
    const known = readsIfNoneMatch ? toHeader(request, 'if-none-match') : undefined;
    if (tag && matchesIfNoneMatch(known, tag.ETag)) {
      request.response = { statusCode: 304, headers: tag, body: '' };
      return;
    }
    request.response = {
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        ...tag,
        ...(next !== undefined && { Link: toNextLink(request, next) }),
        ...(isReplay && { 'Idempotent-Replayed': 'true' }),
      },
      body: toJson(body),
    };
  }

  return { after: sendDocument };
}

/** RFC 8288. The path is the client's own, including the stage or the custom domain's base path. */
function toNextLink({ internal }: OperationRequest, cursor: string): string {
  const query = Object.entries({ ...internal.query, cursor }).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return `<${internal.path}?${query.join('&')}>; rel="next"`;
}
