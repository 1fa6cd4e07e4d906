import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { parseInt64 } from '../../../shared/contract/values.ts';
import { tooLargeResponses } from '../../gateway/gatewayErrors.ts';
import type { Content, JsonSchema, ResponseObject } from './openApi.ts';
import { type OpenApiDocument, readCommittedDocument } from './openApiDocument.ts';

interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes?: Buffer;
}

/**
 * Compares a response with the document: its status, its headers and, if given, its body. Only objects may have
 * undocumented members. A response of no operation must be an Error with headers that other responses have too. The
 * document does not cover preflights.
 * @param path relative to the base URL
 * @param options `isProxied`: a proxy or a CDN may have added undocumented headers
 * @returns a sentence for each problem; empty if the response is as documented
 */
export function findResponseProblems(
  method: string,
  path: string,
  { status, headers, bytes }: Response,
  { isProxied = false } = {},
): readonly string[] {
  if (method === 'OPTIONS') return [];
  const operationId = findOperation(method, path);
  const document = readCommittedDocument();
  const documented = operationId
    ? document.paths[operations[operationId].path]?.[method.toLowerCase()]?.responses[status]
    : errorAnywhere(document);
  if (!documented) return [`The document has no status ${status} of ${operationId}.`];
  const problems = [
    ...(isProxied ? [] : findUnknownHeaders(headers, documented.headers)),
    ...findHeaderProblems(headers, documented.headers),
  ];
  const isUndocumented = status === statusOfCode.payload_too_large && isPlain(headers);
  if (!bytes || isUndocumented) return problems;
  return [...problems, ...findBodyProblems(headers, bytes, documented.content)];
}

/** Past its limit, the gateway refuses any body in plain text. No valid request is that large. */
function isPlain(headers: Headers): boolean {
  return headers.get('Content-Type') === tooLargeResponses.body.type;
}

const allow = { schema: { type: 'string' } };

/** Every header of the document; only X-Request-Id is required. No operation sends Allow, so it is added. */
function errorAnywhere({ components }: OpenApiDocument): Omit<ResponseObject, 'description'> {
  const optional = Object.entries(components.headers).map(([name, header]) => [
    name.replace('.optional', ''),
    { ...header, required: name === 'X-Request-Id' },
  ]);
  return {
    headers: { ...Object.fromEntries(optional), Allow: allow },
    content: { 'application/json': { schema: components.schemas.Error ?? {} } },
  };
}

/** @param content the allowed bodies by media type; without it, the body must be empty */
function findBodyProblems(headers: Headers, bytes: Buffer, content?: Content): string[] {
  if (!content) return bytes.length === 0 ? [] : ['The body is not empty.'];
  const type = headers.get('Content-Type') ?? '';
  const [mediaType = ''] = type.toLowerCase().split(/\s*;/);
  const schema = content[mediaType]?.schema;
  if (!schema) return [`The Content-Type is "${type}".`];
  const inexact: string[] = [];
  let value: unknown;
  try {
    const json = decode(headers.get('Content-Encoding'), bytes).toString('utf8');
    value = JSON.parse(json, (key, member, { source = '' } = {} as { source?: string }) => {
      // Every number of the interface must be an int64, written exactly.
      if (typeof member === 'number' && parseInt64(source) === undefined) {
        inexact.push(`${key} is ${source}, which is not an int64.`);
      }
      return member;
    });
  } catch (error) {
    return [`The body is not JSON: ${(error as Error).message}.`];
  }
  return [...inexact, ...findSchemaProblems(schema, value, 'The body')];
}

/** @throws {Error} when the body is not compressed as its header says */
export function decode(coding: string | null, bytes: Buffer): Buffer {
  if (coding === 'zstd') return zstdDecompressSync(bytes);
  return coding === 'gzip' ? gunzipSync(bytes) : bytes;
}

/** Headers that HTTP itself and API Gateway add. API documents leave them out. */
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
  const { components } = readCommittedDocument();
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

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

const validators = new Map<JsonSchema, ValidateFunction>();

/** Only the first problem, since each of a thousand elements may have it. @param subject of the sentence */
function findSchemaProblems(schema: JsonSchema, value: unknown, subject: string): string[] {
  const { components } = readCommittedDocument();
  // Includes the schemas that its references point to.
  const validate = validators.get(schema) ?? ajv.compile({ ...schema, components });
  validators.set(schema, validate);
  if (validate(value)) return [];
  const [first] = validate.errors ?? [];
  const allowed: readonly string[] | undefined = first?.params.allowedValues;
  const rule = allowed ? `must be one of ${allowed.join(', ')}` : first?.message;
  return [`${subject}${first?.instancePath} ${rule}.`];
}
