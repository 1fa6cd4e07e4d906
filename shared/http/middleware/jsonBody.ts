import httpJsonBodyParser from '@middy/http-json-body-parser';
import type * as z from 'zod/mini';
import { InvalidRequest, UnsupportedMediaType } from '../../contract/errors.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';
import { parseInput } from '../parseInput.ts';

/**
 * Reads the body as the operation's schema has it. Middy's parser does the parsing; it is shown the
 * media type without its parameters, and its verdicts are told apart here, since it answers 422 where
 * the service answers 400.
 */
export function jsonBody(schema: z.core.$ZodType): OperationMiddleware {
  const { before: parseJson } = httpJsonBodyParser();

  function parseBody(request: OperationRequest): void {
    const event = {
      headers: { 'content-type': toHeader(request, 'content-type')?.split(';')[0]?.trim() },
      body: toText(request.event),
    };
    try {
      parseJson?.({ event } as never);
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode === 415) throw new UnsupportedMediaType();
      throw new InvalidRequest(
        'The body must be a JSON document; what was sent is not valid JSON.',
      );
    }
    // What was not UTF-8 has become replacement characters, here or in the gateway.
    if (toText(request.event).includes('\uFFFD')) {
      throw new InvalidRequest('The body must be encoded in UTF-8.');
    }
    request.internal.body = parseInput(schema, event.body);
  }

  return { before: parseBody };
}

function toText({ body, isBase64Encoded }: OperationRequest['event']): string {
  return isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString() : (body ?? '');
}
