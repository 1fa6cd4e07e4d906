import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { readCommittedDocument } from '../../../infra/openapi/openApiDocument.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import type { ParameterSchema } from '../../../shared/contract/parameters.ts';

const ajv = addFormats.default(new Ajv2020({ strict: false, coerceTypes: false }));

const ids = (count: number) => Array.from({ length: count }, (_, index) => index).join(',');

/** Valid and invalid values; none is empty, since the store checks that. */
const texts = [
  ...['0', '1', '7', '1000', '1001', '-1', '1.5', '01', '1e2', 'abc', 'etag', 'Etag', 'etags'],
  ...['available', 'pending', 'sold', 'Sold', 'sold,pending', '7,8', '7,,8', '7,x', ' 7', 'null'],
  ...['9223372036854775807', '-9223372036854775808', ids(100), ids(101)],
];

const parameters = operationIds.flatMap((id) => {
  const { parameters, query }: Operation = operations[id];
  return Object.entries({ ...parameters, ...query }).map(([name, one]) => [id, name, one] as const);
});

it.each(parameters)(
  'in %s, the schema of %s accepts its valid values',
  (_, __, { parse, schema }) => {
    for (const text of texts) {
      expect(ajv.validate(schema, toValue(schema, text)), text).toBe(parse(text) !== undefined);
    }
  },
);

const { headers } = readCommittedDocument().components;

// A mock server sends every header that the document has.
it.each(Object.entries(headers))('%s has an example that fits it', (_, { schema, example }) => {
  expect(example).toBeTypeOf('string');
  expect(ajv.validate(schema ?? {}, example)).toBe(true);
});

/** The value that a tool reads from a text by the document. */
function toValue(schema: ParameterSchema, text: string): unknown {
  const { items } = schema;
  if (items) return text.split(',').map((one) => toValue(items, one));
  return schema.type === 'integer' && /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : text;
}
