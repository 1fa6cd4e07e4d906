import { errorMessages, type Refusal, type RefusalCode } from './errorBody.ts';
import type { IdParameter } from './parameters.ts';

/**
 * Errors for the client. `shared/http/middleware/errorResponse.ts` maps each to its code. The messages are for the
 * client and leak nothing. `reason` and `cause` are only for the log.
 */
export type DomainError =
  | InvalidRequest
  | Unauthorized
  | Forbidden
  | NotFound
  | PreconditionFailed
  | AdjustmentRefused
  | IdempotencyKeyReused
  | UnsupportedMediaType
  | StoreUnavailable;

/** The request is invalid; the message says what was wrong and what would be right. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
}

/** No valid credentials. The client learns only whether it sent any; the log has the reason. */
export class Unauthorized extends Error {
  override readonly name = 'Unauthorized';
  readonly credentialsSent: boolean;
  readonly reason: string;
  /** The public part of the key, if one was recognized. */
  readonly keyId: string | undefined;

  constructor(credentialsSent: boolean, reason: string, keyId?: string) {
    super(
      credentialsSent
        ? errorMessages.invalidKey
        : 'An API key is required: send the header "Authorization: Bearer <API_KEY>".',
    );
    this.credentialsSent = credentialsSent;
    this.reason = reason;
    this.keyId = keyId;
  }
}

/** The API key is valid but does not allow the operation. */
export class Forbidden extends Error {
  override readonly name = 'Forbidden';

  constructor() {
    super(
      'This operation requires an API key with write permission; this key only allows reading.',
    );
  }
}

export class NotFound extends Error {
  override readonly name = 'NotFound';

  constructor({ resource, name }: IdParameter, id: bigint) {
    super(`There is no ${resource} with ${name} ${id}.`);
  }
}

/** The resource does not, or no longer, match the request's preconditions. */
export class PreconditionFailed extends Error {
  override readonly name = 'PreconditionFailed';
  /** The current version, which becomes the `ETag`. */
  readonly version: string;

  constructor({ resource, name }: IdParameter, id: bigint, version: string) {
    super(
      `The ${resource} with ${name} ${id} is not in the state that If-Match or If-None-Match requires: read it again.`,
    );
    this.version = version;
  }
}

/** No stock count changed, and none will under the same `Idempotency-Key`: this is its outcome. */
export class AdjustmentRefused extends Error {
  override readonly name = 'AdjustmentRefused';
  readonly code: RefusalCode;
  /** Undefined in an outcome that release 2.0 stored. */
  readonly refused: readonly Refusal[] | undefined;
  /** Whether it is the outcome of an earlier request. */
  readonly isReplay: boolean;

  constructor(
    code: RefusalCode,
    message: string,
    refused: readonly Refusal[] | undefined,
    isReplay = false,
  ) {
    super(message);
    this.code = code;
    this.refused = refused;
    this.isReplay = isReplay;
  }
}

/** The `Idempotency-Key` belongs to another request. */
export class IdempotencyKeyReused extends Error {
  override readonly name = 'IdempotencyKeyReused';
}

/** The body has another media type than JSON, or a content coding (RFC 9110 section 15.5.16). */
export class UnsupportedMediaType extends Error {
  override readonly name = 'UnsupportedMediaType';

  constructor(isEncoded = false) {
    super(
      isEncoded
        ? 'The body must not be compressed: send it without the header "Content-Encoding".'
        : errorMessages.notJson,
    );
  }
}

/** The database throttles or cannot be reached, and every retry failed too. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** Whether only other writes were in the way: of the same entry, or too many for the table. */
  readonly isConflict: boolean;

  constructor(
    cause: unknown,
    isConflict = false,
    message = 'The service is busy or being restored; try again shortly.',
  ) {
    super(message, { cause });
    this.isConflict = isConflict;
  }
}
