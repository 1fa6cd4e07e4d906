/** Every code that a client can meet, with its HTTP status. The set is closed. */
export const statusOfCode = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const;
export type ErrorCode = keyof typeof statusOfCode;

/** The body of every error: `status` repeats the HTTP status. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

export function toErrorBody(code: ErrorCode, message: string): ErrorBody {
  return { code, message, status: statusOfCode[code] };
}
