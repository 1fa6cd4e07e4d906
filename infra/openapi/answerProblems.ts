import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { parseInt64 } from '../../shared/contract/values.ts';
import { readCommittedDocument } from './committedDocument.ts';
import type { HeaderObject, JsonSchema, ResponseObject } from './openApi.ts';

/** An answer without its body. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
}

export interface WholeAnswer extends AnswerHead {
  readonly bytes: Buffer;
}

/**
 * Holds an answer against the document: its status, each of its headers and its body, which may have
 * nothing that the document does not tell of, but for members of objects. What is no operation's answer
 * has to be an Error with headers that others have too; of a preflight, the document says nothing.
 * @param path relative to the base address
 * @returns what is wrong, a sentence each; nothing, when the answer is as documented
 */
export function findAnswerProblems(
  method: string,
  path: string,
  answer: WholeAnswer,
): readonly string[] {
  if (method === 'OPTIONS') return [];
  const documented = findDocumented(method, path, answer.status);
  if (!documented) return [toUndocumented(method, path, answer)];
  const { headers, body, isText } = documented;
  const problems = findHeaderProblems(answer.headers, headers);
  if (isText) return [...problems, ...findTypeProblems(answer, 'text/plain')];
  if (body !== undefined) return [...problems, ...findBodyProblems(answer, body)];
  return answer.bytes.length === 0 ? problems : [...problems, 'The body is not empty.'];
}

/** As `findAnswerProblems`, of an answer whose body is read in another way, or not at all. */
export function findHeadProblems(
  method: string,
  path: string,
  head: AnswerHead,
): readonly string[] {
  const documented = findDocumented(method, path, head.status);
  if (!documented) return [toUndocumented(method, path, head)];
  return findHeaderProblems(head.headers, documented.headers);
}

/**
 * The operation whose method and path a request has; none, where it has no value for a parameter.
 * @param path relative to the base address, with or without a query
 */
export function findOperation(method: string, path: string): OperationId | undefined {
  const [segments = ''] = path.split('?');
  return operationIds.find((id) => {
    const pattern = operations[id].path.replaceAll(/\{\w+\}/g, '[^/]+');
    return operations[id].method === method && new RegExp(`^${pattern}$`).test(segments);
  });
}

interface Documented {
  readonly headers: ResponseObject['headers'];
  /** Where in the document the body's schema stands; nothing, when there is to be no body. */
  readonly body?: string;
  /** Whether the body is plain text, which needs no schema. */
  readonly isText?: boolean;
}

function findDocumented(method: string, path: string, status: number): Documented | undefined {
  const operationId = findOperation(method, path);
  if (operationId === undefined) {
    return { headers: findHeadersAnywhere(), body: '#/components/schemas/Error' };
  }
  const { path: template } = operations[operationId];
  const { document } = readCommittedDocument();
  const response = document.paths[template]?.[method.toLowerCase()]?.responses[status];
  if (!response) return undefined;
  const segments = ['paths', template, method.toLowerCase(), 'responses', `${status}`];
  const body = toPointer([...segments, 'content', 'application/json', 'schema']);
  const isText = 'text/plain' in (response.content ?? {});
  return { headers: response.headers, isText, ...(response.content && { body }) };
}

function toUndocumented(method: string, path: string, { status }: AnswerHead): string {
  return `The document has no status ${status} of ${findOperation(method, path)}.`;
}

function findBodyProblems({ headers, bytes }: WholeAnswer, pointer: string): string[] {
  const wrongType = findTypeProblems({ headers }, 'application/json');
  if (wrongType.length > 0) return wrongType;
  const inexact: string[] = [];
  let value: unknown;
  try {
    const json = toDecoded(headers.get('Content-Encoding'), bytes).toString('utf8');
    value = JSON.parse(json, (key, member, { source = '' } = {} as Source) => {
      // No number of the interface is anything but an int64, digit for digit as it is written.
      if (typeof member === 'number' && parseInt64(source) === undefined) {
        inexact.push(`${key} is ${source}, which is no int64.`);
      }
      return member;
    });
  } catch (error) {
    return [`The body is not JSON: ${(error as Error).message}.`];
  }
  return [...inexact, ...findSchemaProblems(pointer, value)];
}

/** @throws {Error} when it is not compressed as its header says */
function toDecoded(coding: string | null, bytes: Buffer): Buffer {
  if (coding === 'zstd') return zstdDecompressSync(bytes);
  return coding === 'gzip' ? gunzipSync(bytes) : bytes;
}

function findTypeProblems({ headers }: Pick<WholeAnswer, 'headers'>, wanted: string): string[] {
  const type = headers.get('Content-Type') ?? '';
  return type.split(';')[0]?.trim().toLowerCase() === wanted
    ? []
    : [`The Content-Type is "${type}".`];
}

interface Source {
  readonly source?: string;
}

function toPointer(segments: readonly string[]): string {
  const escaped = segments.map((one) => one.replaceAll('~', '~0').replaceAll('/', '~1'));
  return `#/${escaped.map(encodeURIComponent).join('/')}`;
}

type DocumentedHeaders = ResponseObject['headers'];

/** What HTTP itself and API Gateway add, of which no interface's document speaks. */
const transportHeaders =
  /^(content-type|content-length|transfer-encoding|connection|keep-alive|date|via|x-amz.*|x-cache)$/;

/** Every header of the document, of which only X-Request-Id is a must; and Allow, which no operation answers. */
function findHeadersAnywhere(): DocumentedHeaders {
  const { headers } = readCommittedDocument().document.components;
  const optional = Object.entries(headers).map(([name, header]) => [
    name.replace('.optional', ''),
    { ...header, required: name === 'X-Request-Id' },
  ]);
  return { ...Object.fromEntries(optional), Allow: { schema: { type: 'string' } } };
}

function findHeaderProblems(headers: Headers, documented: DocumentedHeaders): string[] {
  const known = Object.keys(documented).map((name) => name.toLowerCase());
  const unknown = [...headers.keys()].filter(
    (name) => !known.includes(name) && !transportHeaders.test(name),
  );
  const problems = unknown.map((name) => `The document has no header ${name} here.`);
  for (const [name, header] of Object.entries(documented)) {
    const { required, schema = {} } = resolve(header);
    const value = headers.get(name);
    if (value !== null) problems.push(...findValueProblems(schema, value, name));
    else if (required) problems.push(`The header ${name} is missing.`);
  }
  return problems;
}

function resolve(header: HeaderObject): HeaderObject {
  const name = header.$ref?.replace('#/components/headers/', '');
  const { headers } = readCommittedDocument().document.components;
  return name === undefined ? header : (headers[name] as HeaderObject);
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

/** @param pointer where in the document the schema stands */
function findSchemaProblems(pointer: string, body: unknown): string[] {
  if (!ajv.schemas['openapi.json']) ajv.addSchema(readCommittedDocument().document, 'openapi.json');
  const validate = ajv.getSchema(`openapi.json${pointer}`);
  if (!validate) throw new Error(`The document has nothing at ${pointer}.`);
  return findProblems(validate, body, 'The body');
}

function findValueProblems(schema: JsonSchema, value: string, name: string): string[] {
  return findProblems(ajv.compile(schema), value, name);
}

/** One problem, however often it comes: a list of a thousand elements may have it in each. */
function findProblems(validate: ValidateFunction, value: unknown, name: string): string[] {
  if (validate(value)) return [];
  const [first] = validate.errors ?? [];
  return [`${name}${first?.instancePath ?? ''} ${first?.message ?? 'is not as documented'}.`];
}
