import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { parseInt64 } from '../../shared/contract/values.ts';
import { readCommittedDocument } from './committedDocument.ts';
import type { Content, JsonSchema, OpenApiDocument, ResponseObject } from './openApi.ts';

/** An answer without its body. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
}

export interface WholeAnswer extends AnswerHead {
  readonly bytes: Buffer;
}

/**
 * Holds an answer against the document: its status, each of its headers and, of a whole one, its body, which may
 * have nothing that the document does not tell of, but for members of objects. What is no operation's answer
 * has to be an Error with headers that others have too; of a preflight, the document says nothing.
 * @param path relative to the base address
 * @param options `isProxied`: a proxy or a CDN may have added headers that the document does not tell of
 * @returns what is wrong, a sentence each; nothing, when the answer is as documented
 */
export function findAnswerProblems(
  method: string,
  path: string,
  answer: AnswerHead | WholeAnswer,
  { isProxied = false } = {},
): readonly string[] {
  if (method === 'OPTIONS') return [];
  const operationId = findOperation(method, path);
  const { document } = readCommittedDocument();
  const response = operationId
    ? document.paths[operations[operationId].path]?.[method.toLowerCase()]?.responses[answer.status]
    : toErrorAnywhere(document);
  if (!response) return [`The document has no status ${answer.status} of ${operationId}.`];
  const { headers } = response;
  const problems = [
    ...(isProxied ? [] : findUnknownHeaders(answer.headers, headers)),
    ...findHeaderProblems(answer.headers, headers),
    ...findCodingProblems(answer.headers.get('Content-Encoding')),
  ];
  return 'bytes' in answer
    ? [...problems, ...findBodyProblems(answer, response.content)]
    : problems;
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

const allow = { schema: { type: 'string' } };

/** Every header of the document, of which only X-Request-Id is a must; and Allow, which no operation answers. */
function toErrorAnywhere({ components }: OpenApiDocument): Omit<ResponseObject, 'description'> {
  const optional = Object.entries(components.headers).map(([name, header]) => [
    name.replace('.optional', ''),
    { ...header, required: name === 'X-Request-Id' },
  ]);
  return {
    headers: { ...Object.fromEntries(optional), Allow: allow },
    content: { 'application/json': { schema: components.schemas.Error ?? {} } },
  };
}

/** @param content what the body may be, by media type; without it, there is to be no body */
function findBodyProblems({ headers, bytes }: WholeAnswer, content?: Content): string[] {
  if (!content) return bytes.length === 0 ? [] : ['The body is not empty.'];
  const type = headers.get('Content-Type') ?? '';
  const [mediaType = ''] = type.toLowerCase().split(/\s*;/);
  const schema = content[mediaType]?.schema;
  if (!schema) return [`The Content-Type is "${type}".`];
  if (mediaType === 'text/plain') return [];
  const inexact: string[] = [];
  let value: unknown;
  try {
    const json = decode(headers.get('Content-Encoding'), bytes).toString('utf8');
    value = JSON.parse(json, (key, member, { source = '' } = {} as { source?: string }) => {
      // No number of the interface is anything but an int64, digit for digit as it is written.
      if (typeof member === 'number' && parseInt64(source) === undefined) {
        inexact.push(`${key} is ${source}, which is no int64.`);
      }
      return member;
    });
  } catch (error) {
    return [`The body is not JSON: ${(error as Error).message}.`];
  }
  return [...inexact, ...findSchemaProblems(schema, value, 'The body')];
}

/** @throws {Error} when it is not compressed as its header says */
function decode(coding: string | null, bytes: Buffer): Buffer {
  if (coding === 'zstd') return zstdDecompressSync(bytes);
  return coding === 'gzip' ? gunzipSync(bytes) : bytes;
}

/** What HTTP itself and API Gateway add, of which no interface's document speaks. */
const transportHeaders =
  /^(content-(type|length|encoding)|transfer-encoding|connection|keep-alive|date|via|x-amz.*|x-cache)$/;

function findUnknownHeaders(headers: Headers, documented: ResponseObject['headers']): string[] {
  const known = Object.keys(documented).map((name) => name.toLowerCase());
  const unknown = [...headers.keys()].filter(
    (name) => !known.includes(name) && !transportHeaders.test(name),
  );
  return unknown.map((name) => `The document has no header ${name} here.`);
}

function findHeaderProblems(headers: Headers, documented: ResponseObject['headers']): string[] {
  const { components } = readCommittedDocument().document;
  const problems: string[] = [];
  for (const [name, header] of Object.entries(documented)) {
    const reference = header.$ref?.replace('#/components/headers/', '') ?? '';
    const { required, schema = {} } = components.headers[reference] ?? header;
    const value = headers.get(name);
    const subject = `The header ${name} is "${value}"; it`;
    if (value !== null) problems.push(...findSchemaProblems(schema, value, subject));
    else if (required) problems.push(`The header ${name} is missing.`);
  }
  return problems;
}

/** The document leaves this header out, since a mock server would send it with a body that is not compressed. */
function findCodingProblems(coding: string | null): string[] {
  if (coding === null || coding === 'gzip' || coding === 'zstd') return [];
  return [`The header Content-Encoding is "${coding}"; it must be one of gzip, zstd.`];
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

const validators = new Map<JsonSchema, ValidateFunction>();

/** The first problem: a list of a thousand elements may have it in each. @param subject of the sentence */
function findSchemaProblems(schema: JsonSchema, value: unknown, subject: string): string[] {
  const { components } = readCommittedDocument().document;
  // With what its references lead to.
  const validate = validators.get(schema) ?? ajv.compile({ ...schema, components });
  validators.set(schema, validate);
  if (validate(value)) return [];
  const [first] = validate.errors ?? [];
  const allowed: readonly string[] | undefined = first?.params.allowedValues;
  const rule = allowed ? `must be one of ${allowed.join(', ')}` : first?.message;
  return [`${subject}${first?.instancePath} ${rule}.`];
}
