/**
 * A tag and the separator before the next tag. It may have any byte past 0x7f, which the gateway may have turned into
 * other characters. Elements of a list may be empty (RFC 9110 section 5.6.1.2).
 */
const entityTag = /(W\/)?"([\x21\x23-\x7e\x80-\uffff]*)"\s*(?:,[\s,]*|$)/y;

export interface EntityTag {
  readonly isWeak: boolean;
  /** The text between the quotes. */
  readonly opaque: string;
}

/** Parses a list of entity tags (RFC 9110 section 8.8.3); `undefined` if it is invalid. */
export function parseEntityTags(value: string): EntityTag[] | undefined {
  const tags: EntityTag[] = [];
  const list = value.replace(/^[\s,]+/, '');
  entityTag.lastIndex = 0;
  while (entityTag.lastIndex < list.length) {
    const match = entityTag.exec(list);
    if (!match) return undefined;
    tags.push({ isWeak: match[1] !== undefined, opaque: match[2] as string });
  }
  return tags;
}

/**
 * Whether the client already has the current representation (RFC 9110 section 13.1.2, weak comparison). An invalid
 * header is ignored: the client gets the representation.
 */
export function matchesIfNoneMatch(value: string | undefined, current: string): boolean {
  if (value === undefined) return false;
  if (value.trim() === '*') return true;
  const opaque = current.replace(/^W\/|"/g, '');
  return parseEntityTags(value)?.some((tag) => tag.opaque === opaque) ?? false;
}
