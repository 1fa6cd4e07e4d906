import { InvalidRequest } from '../../contract/errors.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';

const MAX_TAGS = 20;
const entityTag = /\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/y;

/**
 * Reads `If-Match` (RFC 9110 section 13.1.1). Weak tags are dropped, as they never match strongly; `*`
 * matches any state, as no header does, since an operation that takes it never creates an entry.
 */
export function preconditions(): OperationMiddleware {
  function parseIfMatch(request: OperationRequest): void {
    const value = toHeader(request, 'if-match')?.trim();
    request.internal.ifMatch = value === undefined || value === '*' ? undefined : toTags(value);
  }

  return { before: parseIfMatch };
}

function toTags(value: string): readonly string[] {
  const tags: string[] = [];
  let count = 0;
  entityTag.lastIndex = 0;
  while (entityTag.lastIndex < value.length) {
    const match = entityTag.exec(value);
    if (!match || ++count > MAX_TAGS) {
      throw new InvalidRequest(
        `If-Match must be "*" or at most ${MAX_TAGS} entity tags in double quotes, as ETag gave them.`,
      );
    }
    if (!match[1] && match[2] !== undefined) tags.push(match[2]);
  }
  return tags;
}
