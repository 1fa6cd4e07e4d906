import httpJsonBodyParser from '@middy/http-json-body-parser';
import type * as z from 'zod/mini';
import { InvalidRequest, UnsupportedMediaType } from '../../contract/errors.ts';
import { parseJson } from '../../contract/json.ts';
import {
  MAX_NAME_LENGTH,
  type OperationMiddleware,
  type OperationRequest,
  readHeader,
} from '../operationRequest.ts';

/**
 * Parses the body by the operation's schema. Middy's parser gets the media type without its parameters. This middleware
 * maps its errors: middy's 422 is 400 in this service, or no error. Long numbers are marked in the text, since middy
 * does not pass their source on to a reviver.
 */
export function jsonBody(schema: z.ZodMiniType): OperationMiddleware {
  function readBody(request: OperationRequest): void {
    // The gateway may already have broken a compressed body, so no code can read it.
    if (isEncoded(readHeader(request, 'content-encoding'))) throw new UnsupportedMediaType(true);
    const text = decodeText(request.event);
    const type = readHeader(request, 'content-type')?.replace(/;.*/, '').trim();
    let body: unknown;
    try {
      body = parseJson(text, (marked, reviver) => {
        const event = { headers: { 'content-type': type }, body: marked };
        httpJsonBodyParser(reviver && { reviver }).before?.({ event } as never);
        return event.body;
      });
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode === 415) throw new UnsupportedMediaType();
      body = parseRefused(text);
    }
    // Invalid UTF-8 has become replacement characters, here or in the gateway.
    if (text.includes('\uFFFD')) {
      throw new InvalidRequest('The body must be encoded in UTF-8.');
    }
    request.internal.body = parseValue(schema, body);
  }

  return { before: readBody };
}

/** Whether there is any coding but `identity`, which RFC 9110 section 8.4.1 reserves. */
function isEncoded(contentEncoding = ''): boolean {
  return contentEncoding
    .toLowerCase()
    .split(',')
    .some((coding) => !['', 'identity'].includes(coding.trim()));
}

/**
 * Parses what middy's parser refused. An empty text is `undefined`. Middy also refuses a member `__proto__`, or a
 * `constructor` with a `prototype`. Both are harmless: JSON.parse makes plain members of them, and the schema reads
 * only its own members, by name.
 * @throws {InvalidRequest} if it is invalid JSON
 */
function parseRefused(text: string): unknown {
  if (!/\S/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    throw new InvalidRequest('The body must be valid JSON.');
  }
}

function decodeText({ body, isBase64Encoded }: OperationRequest['event']): string {
  const text = body ?? '';
  return isBase64Encoded ? Buffer.from(text, 'base64').toString() : text;
}

/** @throws {InvalidRequest} that names each invalid member and says what would be right */
function parseValue<Value>(schema: z.ZodMiniType<Value>, value: unknown): Value {
  // The schema's own method, so that only an operation with a schema loads the library.
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => describeProblem(issue, value));
  throw new InvalidRequest(`${[...new Set(problems)].join('; ')}.`);
}

function describeProblem({ path, message }: z.core.$ZodIssue, body: unknown): string {
  const name = path.join('.');
  if (name === '') {
    return body === undefined ? `The body is empty; it ${message}` : `The body ${message}`;
  }
  const isMissing = path.reduce((at, key) => Object(at)[key], body) === undefined;
  return isMissing
    ? `${name} is missing; it ${message}${describeFound(body)}`
    : `${name} ${message}`;
}

/** How many members the message lists if one is missing, so that a misspelt name is seen. */
const MAX_NAMES = 3;

function describeFound(body: unknown): string {
  const found = Object.keys(Object(body));
  if (found.length === 0) return '';
  const names = found
    .slice(0, MAX_NAMES)
    .map((one) => JSON.stringify(one.slice(0, MAX_NAME_LENGTH)));
  return `; the body has only ${names.join(', ')}${found.length > MAX_NAMES ? ', …' : ''}`;
}
