import type { Parameter } from './parameters.ts';

export const MAX_LIMIT = 1_000;

export const DEFAULT_LIMIT = 100;

const limit: Parameter<number> = {
  parse: (text) =>
    /^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_LIMIT ? Number(text) : undefined,
  error: `must be an integer from 1 to ${MAX_LIMIT}`,
  description: 'The maximum number of elements in the page.',
  schema: { type: 'integer', format: 'int32', minimum: 1, maximum: MAX_LIMIT },
};

/** Where the page starts; opaque except to the store that made it. */
const cursor: Parameter<string> = {
  parse: (text) => text,
  error: '',
  description: 'Where the page starts: opaque, from the `Link` of the previous page.',
  schema: { type: 'string', minLength: 1 },
};

/** The optional parameters of a list with pages (`Link`, relation `next`, RFC 8288). */
export const pageQuery = { limit, cursor };
