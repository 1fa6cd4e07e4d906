import type { Parameter } from './parameter.ts';

/** What each entry of a list gets beside its three members. */
export const includeParameter: Parameter<'etag'> = {
  parse: (text) => (text === 'etag' ? text : undefined),
  error: 'must be "etag"',
};
