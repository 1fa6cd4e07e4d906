import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { toLambdaContext } from '../../../infra/local/lambda/lambdaRuntime.ts';
import { isStreamed, readPrelude } from './lambdaRuntime.ts';

/** Streamed or buffered; `isStreamed` tells which. */
export type LambdaHandler = (event: APIGatewayProxyEvent, ...rest: unknown[]) => Promise<unknown>;

export interface Answer {
  readonly status: number;
  /** The body's Content-Encoding, or `identity`. */
  readonly encoding: string;
  /** The body's length as it is sent. */
  readonly bytes: number;
}

/** Calls a function as Lambda does, and drops the bytes that it answers. */
export async function invoke(handler: LambdaHandler, event: APIGatewayProxyEvent): Promise<Answer> {
  const context = toLambdaContext('bench', event.requestContext.requestId, 120_000);
  return isStreamed(handler)
    ? invokeStreamed(handler, event, context)
    : invokeBuffered(handler, event, context);
}

/** Takes each chunk in a turn of the event loop of its own, so that a fast writer has to wait. */
async function invokeStreamed(
  handler: LambdaHandler,
  event: APIGatewayProxyEvent,
  context: Context,
): Promise<Answer> {
  let bytes = 0;
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      setImmediate(done);
    },
  });
  const end = finished(stream);
  await Promise.all([handler(event, stream, context), end]);
  const { statusCode = 200, headers = {} } = readPrelude(stream);
  return { status: statusCode, encoding: toEncoding(headers), bytes };
}

/** The runtime hands over a buffered answer as one JSON text, the body quoted once more within. */
async function invokeBuffered(
  handler: LambdaHandler,
  event: APIGatewayProxyEvent,
  context: Context,
): Promise<Answer> {
  const result = (await handler(event, context)) as APIGatewayProxyResult;
  Buffer.from(JSON.stringify(result));
  const { statusCode, headers = {}, body, isBase64Encoded } = result;
  const bytes = Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
  return { status: statusCode, encoding: toEncoding(headers as Record<string, string>), bytes };
}

function toEncoding(headers: Record<string, string>): string {
  const [, encoding] =
    Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-encoding') ?? [];
  return encoding ?? 'identity';
}
