import { toJson } from '../../contract/values.ts';
import type { OperationMiddleware, OperationRequest } from '../operationRequest.ts';
import type { DocumentReply } from '../reply.ts';

/** Converts the handler's document to a response. */
export function bufferedResponse(): OperationMiddleware {
  function sendDocument(request: OperationRequest): void {
    const { body, version, next, isReplay } = request.response as unknown as DocumentReply;
    request.response = {
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        ...(version !== undefined && { ETag: `"${version}"` }),
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
