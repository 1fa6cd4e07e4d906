import {
  challenge,
  type ErrorCode,
  errorMessages,
  retryAfter,
} from '../../shared/contract/errorBody.ts';
import { apiVersion } from '../../shared/contract/operation.ts';
import { MAX_BODY_BYTES } from './gatewayLimits.ts';

/** An error that the gateway answers by itself, without calling a function. */
export interface GatewayError {
  /** Its status is the one that the contract gives this code. */
  readonly code: ErrorCode;
  readonly message: string;
  /** What it sends beside Content-Type, X-Request-Id and the CORS headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const notFound = {
  code: 'not_found',
  message: `There is nothing at this path. The base address ends in /${apiVersion}, and no path ends in a slash.`,
} as const;
const forbidden = { code: 'forbidden', message: 'This request is not allowed.' } as const;
const invalid = { code: 'invalid_request', message: 'The request is not valid.' } as const;
const internal = { code: 'internal_error', message: errorMessages.internalError } as const;
const throttled = {
  code: 'too_many_requests',
  message: 'There are too many requests at once; try again shortly.',
  headers: { 'Retry-After': retryAfter.throttled },
} as const;
const unavailable = {
  code: 'service_unavailable',
  message: 'The service did not answer in time; try again shortly.',
  headers: { 'Retry-After': retryAfter.unavailable },
} as const;

/**
 * Keyed by API Gateway's response type. Every type is here, since one that is not would take the
 * status and the sentence of its DEFAULT:
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
  // No method asks for an AWS signature. The gateway looks for one only where it knows no method, and
  // takes a Bearer token for a broken one: this and the next mean that the path is unknown.
  INVALID_SIGNATURE: notFound,
  MISSING_AUTHENTICATION_TOKEN: notFound,
  QUOTA_EXCEEDED: throttled,
  // Seen to be ignored: see `tooLargeAnswers`.
  REQUEST_TOO_LARGE: {
    code: 'payload_too_large',
    message: 'The request body is too large.',
  },
  RESOURCE_NOT_FOUND: notFound,
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

/**
 * The 413 of a body that is too large, in the gateway's own words and without the headers of every other answer:
 * https://github.com/koki-develop/lgtm-generator/issues/10. AWS's emulator for REST APIs answers the first too.
 */
export const tooLargeAnswers = {
  /** Of what no function can be handed (`MAX_PAYLOAD_BYTES`). */
  payload: { type: 'application/json', message: 'Request Too Long' },
  /** Of what the gateway reads of no request, before it knows the API. */
  body: { type: 'text/plain', message: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.` },
} as const;

/** The 412 of a fault that the local stage injects (`--fail`), which has asked no function. */
export const injectedConflict = {
  code: 'precondition_failed',
  message: 'The entry has changed since you read its ETag.',
} as const;

/**
 * The types of bodies that a path or method of no operation is answered for. A mock picks its request
 * template by the body's type, and there is no template for any type: the rest gets the gateway's 415.
 */
export const fixedAnswerTypes = [
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

/** The answer to a method that a known path does not have; `allow` is the value of its Allow header. */
export function toMethodNotAllowedError(allow: string): GatewayError {
  return {
    code: 'method_not_allowed',
    message: `This path allows only ${allow}.`,
    headers: { Allow: allow },
  };
}

/** The value of the Allow header of a path that has these operations' methods. */
export function toAllow(methods: readonly string[]): string {
  return [...new Set(methods), 'OPTIONS'].join(', ');
}
