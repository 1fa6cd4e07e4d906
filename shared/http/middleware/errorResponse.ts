import { logError } from '../../runtime/logger.ts';
import type { OperationMiddleware, OperationRequest } from '../operationRequest.ts';
import { toErrorResponse } from '../toErrorResponse.ts';

/** Turns any error into a response. The details of a 5xx go to the log. */
export function errorResponse(): OperationMiddleware {
  function respondWithError(request: OperationRequest): void {
    const error = request.error ?? new Error('middy reported no error');
    request.response = toErrorResponse(error);
    if (request.response.statusCode >= 500) {
      logError({ requestId: request.internal.requestId }, error);
    }
  }

  return { onError: respondWithError };
}
