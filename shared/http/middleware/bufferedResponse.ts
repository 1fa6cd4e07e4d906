import { toJson } from '../../contract/json.ts';
import type { Operation } from '../../contract/operation.ts';
import { matchesIfNoneMatch } from '../entityTags.ts';
import {
  type DocumentReply,
  type OperationMiddleware,
  type OperationRequest,
  readHeader,
} from '../operationRequest.ts';

/** Converts the handler's document to a response. If the client already has the document, there is no body. */
export function bufferedResponse({ requestHeaders }: Operation) {
  const isConditional = requestHeaders?.includes('If-None-Match');

  function sendDocument(request: OperationRequest): void {
    const { body, version, next, isReplay } = request.response as unknown as DocumentReply;
    const tag = version !== undefined && { ETag: `"${version}"` };
    if (
      isConditional &&
      tag &&
      matchesIfNoneMatch(readHeader(request, 'if-none-match'), tag.ETag)
    ) {
      request.response = { statusCode: 304, headers: tag, body: '' };
      return;
    }
    request.response = {
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        ...tag,
        ...(next !== undefined && { Link: renderNextLink(request, next) }),
        ...(isReplay && { 'Idempotent-Replayed': 'true' }),
      },
      body: toJson(body),
    };
  }

  return { after: sendDocument } satisfies OperationMiddleware;
}

/**
 * RFC 8288. The path is the client's own, including the stage or the custom domain's base path. The gateway treats
 * doubled slashes as one, but a reference that starts with two names another host.
 */
function renderNextLink({ internal }: OperationRequest, cursor: string): string {
  const query = Object.entries({ ...internal.query, cursor }).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return `<${internal.path.replace(/\/+/g, '/')}?${query.join('&')}>; rel="next"`;
}
