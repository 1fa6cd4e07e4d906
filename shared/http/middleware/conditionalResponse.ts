import { matchesIfNoneMatch } from '../entityTags.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';
import { bufferedResponse } from './bufferedResponse.ts';

/**
 * As `bufferedResponse`, but a document is not sent to a client that already has its tag. It is a separate file, so
 * that the other functions do not load it.
 */
export function conditionalResponse(): OperationMiddleware {
  const { after: sendDocument } = bufferedResponse();

  async function sendChanged(request: OperationRequest): Promise<void> {
    await sendDocument?.(request);
    const { ETag = '' } = request.response?.headers ?? {};
    if (!matchesIfNoneMatch(toHeader(request, 'if-none-match'), ETag)) return;
    request.response = { statusCode: 304, headers: { ETag }, body: '' };
  }

  return { after: sendChanged };
}
