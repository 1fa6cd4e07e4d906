import httpJsonBodyParser from '@middy/http-json-body-parser';
import type * as z from 'zod/mini';
import { InvalidRequest, UnsupportedMediaType } from '../../contract/errors.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';

/**
 * Reads the body as the operation's schema has it. Middy's parser does the parsing; it is shown the
 * media type without its parameters, and its verdicts are told apart here, since it answers 422 where
 * the service answers 400, or nothing.
 */
export function jsonBody(schema: z.ZodMiniType): OperationMiddleware {
  const { before: parseJson } = httpJsonBodyParser();

  function readBody(request: OperationRequest): void {
    const text = toText(request.event);
    const event = {
      headers: { 'content-type': toHeader(request, 'content-type')?.split(';')[0]?.trim() },
      body: text,
    };
    try {
      parseJson?.({ event } as never);
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode === 415) throw new UnsupportedMediaType();
      event.body = parseRefused(text);
    }
    // What was not UTF-8 has become replacement characters, here or in the gateway.
    if (text.includes('\uFFFD')) {
      throw new InvalidRequest('The body must be encoded in UTF-8.');
    }
    request.internal.body = parseValue(schema, event.body);
  }

  return { before: readBody };
}

/**
 * What middy's parser refused: no text at all, which is `undefined`, and JSON with a member that is called
 * `__proto__`, or one that is called `constructor` and has a `prototype`. Nothing comes of either: JSON.parse makes
 * plain members of them, and the schema takes no members but its own, each by name.
 * @throws {InvalidRequest} when it is not JSON
 */
function parseRefused(text: string): never {
  if (!/\S/.test(text)) return undefined as never;
  try {
    return JSON.parse(text) as never;
  } catch {
    throw new InvalidRequest('The body must be valid JSON.');
  }
}

function toText({ body, isBase64Encoded }: OperationRequest['event']): string {
  return isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString() : (body ?? '');
}

/** @throws {InvalidRequest} that names each member that is wrong and says what would be right */
function parseValue<Value>(schema: z.ZodMiniType<Value>, value: unknown): Value {
  // By the schema's own method: only an operation that has a schema loads the library.
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => toProblem(issue, value));
  throw new InvalidRequest(`${[...new Set(problems)].join('; ')}.`);
}

function toProblem({ path, message }: z.core.$ZodIssue, body: unknown): string {
  const name = path.join('.');
  if (name === '') {
    return body === undefined ? `The body is empty; it ${message}` : `The body ${message}`;
  }
  const isMissing = path.reduce((at, key) => Object(at)[key], body) === undefined;
  return isMissing ? `${name} is missing; it ${message}${toFound(body)}` : `${name} ${message}`;
}

/** Of the members in a missing one's place, so that a misspelt one is seen. */
const MAX_NAMES = 3;
const MAX_NAME_LENGTH = 40;

function toFound(body: unknown): string {
  const found = Object.keys(Object(body));
  if (found.length === 0) return '';
  const names = found
    .slice(0, MAX_NAMES)
    .map((one) => JSON.stringify(one.slice(0, MAX_NAME_LENGTH)));
  return `; the body has only ${names.join(', ')}${found.length > MAX_NAMES ? ', …' : ''}`;
}
