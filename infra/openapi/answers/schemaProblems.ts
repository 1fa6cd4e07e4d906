import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonSchema } from '../openApi.ts';
import { document } from './document.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi.json');

/** @param pointer where in the document the schema stands */
export function findSchemaProblems(pointer: string, body: unknown): string[] {
  const validate = ajv.getSchema(`openapi.json${pointer}`);
  if (!validate) throw new Error(`The document has nothing at ${pointer}.`);
  return findProblems(validate, body, 'The body');
}

export function findValueProblems(schema: JsonSchema, value: string, name: string): string[] {
  return findProblems(ajv.compile(schema), value, name);
}

/** One problem, however often it comes: a list of a thousand elements may have it in each. */
function findProblems(validate: ValidateFunction, value: unknown, name: string): string[] {
  if (validate(value)) return [];
  const [first] = validate.errors ?? [];
  return [`${name}${first?.instancePath ?? ''} ${first?.message ?? 'is not as documented'}.`];
}
