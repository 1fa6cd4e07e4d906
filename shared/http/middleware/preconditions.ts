import { InvalidRequest } from '../../contract/errors.ts';
import { MAX_TAGS } from '../../contract/headers.ts';
import { parseEntityTags } from '../entityTags.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';

/**
 * Reads `If-Match` (RFC 9110 section 13.1.1). Weak tags are dropped, as they never match strongly. An operation with
 * `If-Match` never creates an entry. So `*` matches any state, as without the header, and no state matches
 * `If-None-Match: *` (section 13.1.2). Tags in `If-None-Match` are ignored.
 */
export function preconditions(): OperationMiddleware {
  function parsePreconditions(request: OperationRequest): void {
    const value = toHeader(request, 'if-match')?.trim();
    request.internal.ifMatch = value === undefined || value === '*' ? undefined : toVersions(value);
    if (toHeader(request, 'if-none-match')?.trim() === '*') request.internal.ifMatch = [];
  }

  return { before: parsePreconditions };
}

function toVersions(value: string): readonly string[] {
  const tags = parseEntityTags(value);
  if (!tags || tags.length > MAX_TAGS) {
    throw new InvalidRequest(
      `If-Match must be "*" or at most ${MAX_TAGS} entity tags in double quotes, as in the ETag header.`,
    );
  }
  return tags.filter(({ isWeak }) => !isWeak).map(({ opaque }) => opaque);
}
