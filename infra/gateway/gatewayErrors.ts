import {
  challenge,
  type ErrorCode,
  errorMessages,
  retryAfter,
  toErrorBody,
  UNKNOWN_PATH,
} from '../../shared/contract/errorBody.ts';
import {
  allowedRequestHeaders,
  exposedHeaders,
  preflightMaxAgeSeconds,
} from '../../shared/contract/headers.ts';
import { apiVersion } from '../../shared/contract/operation.ts';
import { operationIds, operations } from '../../shared/contract/operations.ts';

// AWS's limits, which the local stage enforces too:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html

/** API Gateway's limit for the names and values of all headers of a request together. */
export const MAX_HEADER_BYTES = 10_240;

/** API Gateway's limit for a payload: 10 MB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/**
 * Lambda's limit for a payload that is not streamed, in each direction: 6 MB of JSON; for a request, its whole event.
 */
export const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

/** An error response by the gateway itself, without a function call. */
export interface GatewayError {
  /** The contract gives this code its status. */
  readonly code: ErrorCode;
  readonly message: string;
  /** Headers beside Content-Type, X-Request-Id and the CORS headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const unknownPath = {
  code: 'unknown_path',
  message: `${UNKNOWN_PATH} The base URL ends in /${apiVersion}.`,
} as const;
const forbidden = { code: 'forbidden', message: 'This request is not allowed.' } as const;
const invalid = { code: 'invalid_request', message: 'The request is not valid.' } as const;
const internal = { code: 'internal_error', message: errorMessages.internalError } as const;
const throttled = {
  code: 'too_many_requests',
  message: 'There are too many requests at once; try again shortly.',
  headers: { 'Retry-After': retryAfter.throttled },
} as const;
/** What the firewall's rate rules refuse. */
export const rateLimited = { ...throttled, headers: { 'Retry-After': retryAfter.rateLimited } };
const unavailable = {
  code: 'service_unavailable',
  message: 'The service did not respond in time; try again shortly.',
  headers: { 'Retry-After': retryAfter.unavailable },
} as const;

/**
 * Keyed by API Gateway's response type. Every type is listed, since a missing one would get the status and message of
 * its DEFAULT:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const gatewayErrors = {
  ACCESS_DENIED: forbidden,
  API_CONFIGURATION_ERROR: internal,
  AUTHORIZER_CONFIGURATION_ERROR: internal,
  AUTHORIZER_FAILURE: internal,
  BAD_REQUEST_BODY: invalid,
  BAD_REQUEST_PARAMETERS: invalid,
  DEFAULT_4XX: invalid,
  DEFAULT_5XX: internal,
  EXPIRED_TOKEN: forbidden,
  INTEGRATION_FAILURE: unavailable,
  INTEGRATION_TIMEOUT: unavailable,
  INVALID_API_KEY: forbidden,
  // No method requires an AWS signature. If the gateway finds no method, it takes the Bearer token for an invalid
  // signature. So this type and the next mean that the path is unknown.
  INVALID_SIGNATURE: unknownPath,
  MISSING_AUTHENTICATION_TOKEN: unknownPath,
  QUOTA_EXCEEDED: throttled,
  // The gateway ignores this one: see `tooLargeResponses`.
  REQUEST_TOO_LARGE: {
    code: 'payload_too_large',
    message: 'The request body is too large.',
  },
  RESOURCE_NOT_FOUND: unknownPath,
  THROTTLED: throttled,
  UNAUTHORIZED: {
    code: 'unauthorized',
    message: errorMessages.invalidKey,
    headers: { 'WWW-Authenticate': challenge },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    message: errorMessages.notJson,
  },
  WAF_FILTERED: forbidden,
} as const satisfies Record<string, GatewayError>;

/** The response type of what the firewall refuses with 403. */
export const FILTERED = 'WAF_FILTERED' satisfies keyof typeof gatewayErrors;

/**
 * The 413 of a body that is too large, in the gateway's own words and without the headers of other responses:
 * https://github.com/koki-develop/lgtm-generator/issues/10. AWS's emulator for REST APIs sends the first too.
 */
export const tooLargeResponses = {
  /** For more than a function accepts (`MAX_PAYLOAD_BYTES`). */
  payload: { type: 'application/json', message: 'Request Too Long' },
  /** For more than the gateway reads of any request. It then does not know the API yet. */
  body: { type: 'text/plain', message: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.` },
} as const;

/**
 * The media types of bodies that the gateway's own responses accept. A mock chooses its request template by the body's
 * type, and no template covers all types. Other types get the gateway's 415.
 */
export const fixedResponseTypes = [
  'application/json',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data',
  'text/plain',
  'text/xml',
] as const;

/** The response to a method that a known path does not have; `allow` is its Allow header. */
export function methodNotAllowedError(allow: string): GatewayError {
  return {
    code: 'method_not_allowed',
    message: `This path allows only ${allow}.`,
    headers: { Allow: allow },
  };
}

/** The value of the Allow header of one of the contract's paths. */
export function listAllowedMethods(path: string): string {
  const ids = operationIds.filter((id) => operations[id].path === path);
  return [...ids.map((id) => operations[id].method), 'OPTIONS'].join(', ');
}

export function toErrorText({ code, message }: GatewayError): string {
  return JSON.stringify(toErrorBody(code, message));
}

/** The headers of the gateway's own errors, beside Content-Type and X-Request-Id. */
export function buildErrorHeaders(
  { headers }: GatewayError,
  origins: readonly [string, ...string[]],
) {
  return {
    // A gateway response cannot look up the request's origin in a list. With several origins, pages of any origin may
    // read it. That is safe: it has only a fixed sentence and none of the store's data.
    'Access-Control-Allow-Origin': origins.length === 1 ? origins[0] : '*',
    'Access-Control-Expose-Headers': exposedHeaders.join(','),
    ...headers,
  };
}

/** The headers of the response to a browser's preflight request, which needs no API key. */
export function buildPreflightHeaders(allow: string, origins: readonly [string, ...string[]]) {
  return {
    // With several, a template sets it by the request.
    ...(origins.length === 1 && { 'Access-Control-Allow-Origin': origins[0] }),
    ...(origins.length > 1 && { Vary: 'Origin' }),
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': allowedRequestHeaders.join(','),
    'Access-Control-Max-Age': String(preflightMaxAgeSeconds),
  };
}
