import { InvalidRequest } from '../../contract/errors.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH, MAX_TAGS } from '../../contract/headers.ts';
import type { Operation } from '../../contract/operation.ts';
import type { VerifiedKey } from '../../keys/keyVerifier.ts';
import { parseEntityTags } from '../entityTags.ts';
import {
  type OperationMiddleware,
  type OperationRequest,
  readHeader,
} from '../operationRequest.ts';

/** Reads the header that guards a write: `If-Match` of an update, `Idempotency-Key` of an adjustment. */
export function preconditions({ requestHeaders }: Operation): OperationMiddleware {
  function readPreconditions(request: OperationRequest): void {
    if (requestHeaders?.includes('If-Match')) readIfMatch(request);
    if (requestHeaders?.includes('Idempotency-Key')) readIdempotencyKey(request);
  }

  return { before: readPreconditions };
}

/**
 * RFC 9110 section 13.1.1. Weak tags are dropped, as they never match strongly. An operation with `If-Match` never
 * creates an entry. So `*` matches any state, as without the header, and no state matches `If-None-Match: *` (section
 * 13.1.2). Tags in `If-None-Match` are ignored.
 */
function readIfMatch(request: OperationRequest): void {
  const value = readHeader(request, 'if-match')?.trim();
  request.internal.ifMatch =
    value === undefined || value === '*' ? undefined : parseVersions(value);
  if (readHeader(request, 'if-none-match')?.trim() === '*') request.internal.ifMatch = [];
  // Clients of release 2.0 expect that the key guards the update.
  if (readHeader(request, 'idempotency-key') !== undefined) {
    throw new InvalidRequest(
      'An update takes no Idempotency-Key: send If-Match, or sell and return by POST /inventory/adjustments.',
    );
  }
}

function parseVersions(value: string): readonly string[] {
  const tags = parseEntityTags(value);
  if (!tags || tags.length > MAX_TAGS) {
    throw new InvalidRequest(
      `If-Match must be "*" or at most ${MAX_TAGS} entity tags in double quotes, as in the ETag header.`,
    );
  }
  return tags.filter(({ isWeak }) => !isWeak).map(({ opaque }) => opaque);
}

/**
 * draft-ietf-httpapi-idempotency-key-header. It adds the API key, so that requests of different clients never collide.
 */
function readIdempotencyKey(request: OperationRequest): void {
  const value = readHeader(request, 'idempotency-key');
  if (value === undefined) {
    throw new InvalidRequest(
      'Idempotency-Key is missing: send a key that only this request has, such as the id of the order.',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(value) || value.length > MAX_IDEMPOTENCY_KEY_LENGTH) {
    throw new InvalidRequest(
      `Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters.`,
    );
  }
  const { originId } = request.internal.key as VerifiedKey;
  request.internal.idempotencyKey = `${originId} ${value}`;
}
