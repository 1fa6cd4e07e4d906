import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { readCommittedDocument } from '../../../infra/openapi/openApi.ts';

const ajv = new Ajv2020();
const { headers } = readCommittedDocument().components;

// A mock server sends every header that the document has.
it.each(Object.entries(headers))('%s has an example that fits it', (_, { schema, example }) => {
  expect(example).toBeTypeOf('string');
  expect(ajv.validate(schema ?? {}, example)).toBe(true);
});

it('no header example says that the body is compressed', () => {
  expect(Object.keys(headers).join(' ')).not.toContain('Content-Encoding');
});
