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
 * What middy's parser refused, where it is JSON: with a member that is called `__proto__`, or one that is
 * called `constructor` and has a `prototype`. Nothing comes of either: JSON.parse makes plain members of them, and
 * the schema takes no members but its own, each by name.
 * @throws {InvalidRequest} when it is not JSON
 */
function parseRefused(text: string): never {
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
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'The body'} ${message}`,
  );
  throw new InvalidRequest(`${problems.join('; ')}.`);
}
