import type { PetStatus } from './values.ts';

/** Every error code of the service, with its HTTP status. */
export const statusOfCode = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_path: 404,
  method_not_allowed: 405,
  not_for_sale: 409,
  insufficient_stock: 409,
  quantity_out_of_range: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  too_many_requests: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const;
export type ErrorCode = keyof typeof statusOfCode;

/** Why a pet was refused. If pets have different reasons, the error's `code` is the one that is first in this list. */
export const refusalCodes = [
  'not_found',
  'not_for_sale',
  'insufficient_stock',
  'quantity_out_of_range',
] as const satisfies readonly ErrorCode[];
export type RefusalCode = (typeof refusalCodes)[number];

/** Why an adjustment was refused for a pet, with the pet's entry at that time. */
export interface Refusal {
  readonly petId: bigint;
  readonly code: RefusalCode;
  /** Absent if the pet has no entry. */
  readonly quantity?: number;
  /** Present only if the pet is not for sale. */
  readonly status?: PetStatus;
}

/** The body of every error; `status` repeats the HTTP status. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  /**
   * Of a refused adjustment: one for each pet that could not be sold or returned, in the order of the first request with
   * the key.
   */
  readonly refused?: readonly Refusal[];
}

export function toErrorBody(
  code: ErrorCode,
  message: string,
  refused?: readonly Refusal[],
): ErrorBody {
  return { code, message, status: statusOfCode[code], ...(refused && { refused }) };
}

/** The start of `WWW-Authenticate`, in every 401 and in a function's 403 (RFC 6750 section 3). */
export const challenge = 'Bearer realm="petstore"';

/** Seconds to wait (`Retry-After`, RFC 9110 section 10.2.3). */
export const retryAfter = {
  throttled: '1',
  /** The firewall counts the requests of the last minute. */
  rateLimited: '60',
  /** Many requests update one entry at once, which does not last long. */
  conflict: '1',
  /** Longer than the SDK's pauses between its retries, and short enough for a person to wait. */
  unavailable: '5',
} as const;

/** Begins the message of `unknown_path`, whose code was `not_found` before release 3.0. Until 3.1, clients know both. */
export const UNKNOWN_PATH = 'There is nothing at this path.';

/** Messages that functions and the gateway share. */
export const errorMessages = {
  invalidKey: 'The API key is not valid.',
  notJson: 'The body must be JSON: send the header "Content-Type: application/json".',
  internalError: 'Something went wrong on our side; the request id tells us what.',
} as const;
