import { errorMessages } from './errorBody.ts';
import type { IdParameter } from './parameters.ts';

/**
 * What the service tells a client when it cannot do what was asked. `shared/http/toErrorResponse.ts`
 * gives each its status. The messages are for the client and leak nothing; what is for the log alone
 * is `reason` or `cause`.
 */
export type DomainError =
  | InvalidRequest
  | Unauthorized
  | Forbidden
  | NotFound
  | PreconditionFailed
  | UnsupportedMediaType
  | StoreUnavailable;

/** The request is wrong in itself; the message says what was wrong and what would be right. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest';
}

/** No valid credentials. The client learns only whether it sent any; the log gets the reason. */
export class Unauthorized extends Error {
  override readonly name = 'Unauthorized';
  readonly credentialsSent: boolean;
  readonly reason: string;
  /** The public part of the key, where one was recognized. */
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

/** The API key is valid, and does not allow the operation. */
export class Forbidden extends Error {
  override readonly name = 'Forbidden';

  constructor() {
    super('This operation takes an API key with write permission; this key allows reading only.');
  }
}

/** Nothing has this id. */
export class NotFound extends Error {
  override readonly name = 'NotFound';

  constructor({ resource, name }: IdParameter, id: bigint) {
    super(`There is no ${resource} with ${name} ${id}.`);
  }
}

/** What has the id is not, or is no longer, what the request's preconditions ask for. */
export class PreconditionFailed extends Error {
  override readonly name = 'PreconditionFailed';
  /** What it is now, which becomes the `ETag`. */
  readonly version: string;

  constructor({ resource, name }: IdParameter, id: bigint, version: string) {
    super(
      `The ${resource} with ${name} ${id} is not in a state that If-Match or If-None-Match asks for.`,
    );
    this.version = version;
  }
}

/** The body is of another type than JSON. */
export class UnsupportedMediaType extends Error {
  override readonly name = 'UnsupportedMediaType';

  constructor() {
    super(errorMessages.notJson);
  }
}

/** The database throttles or cannot be reached, and went on so through every retry. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';

  constructor(cause: unknown) {
    super('The service is busy or being restored; try again shortly.', { cause });
  }
}
