import {
  challenge,
  type ErrorBody,
  type ErrorCode,
  errorMessages,
  retryAfter,
  toErrorBody,
} from '../../contract/errorBody.ts';
import type { AdjustmentRefused, DomainError } from '../../contract/errors.ts';
import { toJson } from '../../contract/json.ts';
import { logError } from '../../runtime/logger.ts';
import type { HttpResponse, OperationMiddleware, OperationRequest } from '../operationRequest.ts';

const codeOf: Record<Exclude<DomainError, AdjustmentRefused>['name'], ErrorCode> = {
  InvalidRequest: 'invalid_request',
  Unauthorized: 'unauthorized',
  Forbidden: 'forbidden',
  NotFound: 'not_found',
  PreconditionFailed: 'precondition_failed',
  UnsupportedMediaType: 'unsupported_media_type',
  IdempotencyKeyReused: 'idempotency_key_reused',
  StoreUnavailable: 'service_unavailable',
};

/** Turns any error into a response. The details of a 5xx go to the log. */
export function errorResponse(): OperationMiddleware {
  function respondWithError(request: OperationRequest): void {
    const error = request.error as Error;
    request.response = toErrorResponse(error);
    if (request.response.statusCode >= 500) {
      logError({ requestId: request.internal.requestId }, error);
    }
  }

  return { onError: respondWithError };
}

/** The only place that maps errors to codes, and so to statuses. An unknown error is a 500 without details. */
export function toErrorResponse(error: Error): HttpResponse {
  const known = error as DomainError;
  const body = toKnownBody(known) ?? toErrorBody('internal_error', errorMessages.internalError);
  return {
    statusCode: body.status,
    headers: { 'Content-Type': 'application/json', ...listErrorHeaders(known) },
    body: toJson(body),
  };
}

function toKnownBody(error: DomainError): ErrorBody | undefined {
  if (error.name === 'AdjustmentRefused') {
    return toErrorBody(error.code, error.message, error.refused);
  }
  const code = codeOf[error.name];
  return code && toErrorBody(code, error.message);
}

function listErrorHeaders(error: DomainError): Record<string, string> | undefined {
  switch (error.name) {
    case 'Unauthorized':
      // RFC 6750 section 3.1: no error code for a request without credentials.
      return {
        'WWW-Authenticate': error.credentialsSent
          ? `${challenge}, error="invalid_token"`
          : challenge,
      };
    case 'Forbidden':
      return { 'WWW-Authenticate': `${challenge}, error="insufficient_scope"` };
    case 'AdjustmentRefused':
      return error.isReplay ? { 'Idempotent-Replayed': 'true' } : undefined;
    case 'PreconditionFailed':
      return { ETag: `"${error.version}"` };
    case 'StoreUnavailable':
      return { 'Retry-After': retryAfter[error.isConflict ? 'conflict' : 'unavailable'] };
  }
}
