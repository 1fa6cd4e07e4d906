import type { Parameter } from './parameters.ts';

const MAX_LIMIT = 1_000;

/** The elements of a page whose request has no `limit`. */
export const DEFAULT_LIMIT = 100;

/** The most elements that a page may have. */
const limit: Parameter<number> = {
  parse: (text) =>
    /^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_LIMIT ? Number(text) : undefined,
  error: `must be an integer from 1 to ${MAX_LIMIT}`,
  description: 'The most elements that the page may have.',
  schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT },
};

/** Where the page starts; opaque to all but the store that gave it. */
const cursor: Parameter<string> = {
  parse: (text) => text,
  error: '',
  description: 'Where the page starts: opaque, from the link to it that the page before has.',
  schema: { type: 'string', minLength: 1 },
};

/** The opt-in parameters of a list that can be read in pages (`Link`, relation `next`, RFC 8288). */
export const pageQuery = { limit, cursor };
