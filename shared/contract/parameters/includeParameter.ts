import type { Parameter } from './parameter.ts';

/** What each entry of a list gets beside its three members. */
export const includeParameter: Parameter<'etag'> = {
  parse: (text) => (text === 'etag' ? text : undefined),
  error: 'must be "etag"',
  description: 'Gives each entry its tag as a fourth member, as `If-Match` takes it.',
  schema: { type: 'string', enum: ['etag'] },
};
