import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type {
  HeaderObject,
  OpenApiDocument,
  ResponseObject,
} from '../../../infra/openapi/openApi.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { parseInt64 } from '../../../shared/contract/values/parseInt64.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';

/** What HTTP itself and API Gateway add, of which no interface's document speaks. */
const transportHeaders =
  /^(content-type|content-length|transfer-encoding|connection|keep-alive|date|via|x-amz.*|x-cache)$/;

/** The committed document. */
export const document: OpenApiDocument = JSON.parse(
  readFileSync(new URL('../../../shared/contract/openapi.json', import.meta.url), 'utf8'),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi.json');

/**
 * Holds an answer against the document: its status, each of its headers and its body, which may have
 * nothing that the document does not tell of, but for members of objects. What is no operation's answer
 * has to be an Error with headers that others have too.
 */
export function expectDocumented(method: string, path: string, answer: ExactResponse): void {
  if (method === 'OPTIONS') return;
  const operationId = findOperation(method, path);
  if (operationId === undefined) {
    expectHeaders(answer, documentedAnywhere);
    expectBody(answer, '#/components/schemas/Error');
    return;
  }
  const operation = operations[operationId];
  const pointer = ['paths', operation.path, method.toLowerCase(), 'responses'];
  const responses = document.paths[operation.path]?.[method.toLowerCase()]?.responses ?? {};
  expect(Object.keys(responses), `${operationId}: a status of the document`).toContain(
    `${answer.status}`,
  );
  const response = responses[answer.status] as ResponseObject;
  expectHeaders(answer, response.headers);
  if (!response.content) {
    expect(answer.bytes).toHaveLength(0);
    return;
  }
  expectBody(
    answer,
    toPointer([...pointer, `${answer.status}`, 'content', 'application/json', 'schema']),
  );
}

/** The operation whose method and path a request has; none, where it has no value for a parameter. */
export function findOperation(method: string, path: string) {
  const [segments = ''] = path.split('?');
  return operationIds.find((id) => {
    const pattern = operations[id].path.replaceAll(/\{\w+\}/g, '[^/]+');
    return operations[id].method === method && new RegExp(`^${pattern}$`).test(segments);
  });
}

/** Every header of the document, of which only X-Request-Id is a must; and Allow, which no operation answers. */
const documentedAnywhere: ResponseObject['headers'] = {
  ...Object.fromEntries(
    Object.entries(document.components.headers).map(([name, header]) => [
      name.replace('.optional', ''),
      { ...header, required: name === 'X-Request-Id' },
    ]),
  ),
  Allow: { schema: { type: 'string' } },
};

function expectHeaders({ headers }: ExactResponse, documented: ResponseObject['headers']): void {
  const known = Object.keys(documented).map((name) => name.toLowerCase());
  const unknown = [...headers.keys()].filter(
    (name) => !known.includes(name) && !transportHeaders.test(name),
  );
  expect(unknown, 'headers that the document leaves out').toEqual([]);
  for (const [name, header] of Object.entries(documented)) {
    const { required, schema = {} } = resolve(header);
    const value = headers.get(name);
    if (value === null) expect(required, `${name} is missing`).not.toBe(true);
    else expectValid(ajv.compile(schema), value, name);
  }
}

function expectBody({ headers, bytes, text }: ExactResponse, pointer: string): void {
  const isGzip = headers.get('Content-Encoding') === 'gzip';
  const json = isGzip ? gunzipSync(bytes).toString() : text;
  const validate = ajv.getSchema(`openapi.json${pointer}`);
  if (!validate) throw new Error(`The document has nothing at ${pointer}.`);
  expectValid(validate, JSON.parse(json, expectExactInteger), 'the body');
}

/** No number of the interface is anything but an int64, digit for digit as it is written. */
function expectExactInteger(key: string, value: unknown, { source = '' } = {} as Source): unknown {
  if (typeof value === 'number' && parseInt64(source) === undefined) {
    expect.fail(`${key} is ${source}, which is no int64`);
  }
  return value;
}

interface Source {
  readonly source?: string;
}

function expectValid(validate: ValidateFunction, value: unknown, what: string): void {
  if (!validate(value)) expect.fail(`${what}: ${ajv.errorsText(validate.errors)}`);
}

function resolve(header: HeaderObject): HeaderObject {
  const name = header.$ref?.replace('#/components/headers/', '');
  return name === undefined ? header : (document.components.headers[name] as HeaderObject);
}

function toPointer(segments: readonly string[]): string {
  const escaped = segments.map((one) => one.replaceAll('~', '~0').replaceAll('/', '~1'));
  return `#/${escaped.map(encodeURIComponent).join('/')}`;
}
