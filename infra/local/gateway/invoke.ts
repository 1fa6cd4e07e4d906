import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { MAX_PAYLOAD_BYTES } from '../../gateway/gatewayLimits.ts';
import type { BufferedHandler, LambdaFunction, StreamedHandler } from '../lambda/lambdaFunction.ts';
import {
  ClientLeft,
  defineResponseStream,
  toLambdaContext,
  withRequestId,
} from '../lambda/lambdaRuntime.ts';
import { type GatewayAnswer, sendAnswer } from './messages.ts';

/** The function took longer than it may. */
export class FunctionTimeout extends Error {
  override readonly name = 'FunctionTimeout';
}

/**
 * Calls a function and sends what it answers.
 * @throws {FunctionTimeout} when it takes too long
 * @throws what the function throws, or an Error when it does not answer as it should
 */
export async function invoke(
  { operation, timeoutMilliseconds, handler }: LambdaFunction,
  event: APIGatewayProxyEvent,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const context = toLambdaContext(operation.operationId, requestId, timeoutMilliseconds);
  const send = operation.streamed ? sendStreamed : sendBuffered;
  let expire: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    const message = `The function did not answer within ${timeoutMilliseconds / 1000} seconds.`;
    expire = setTimeout(() => reject(new FunctionTimeout(message)), timeoutMilliseconds);
  });
  try {
    await withRequestId(requestId, () => send(handler as never, event, context, response, expired));
  } finally {
    clearTimeout(expire);
  }
}

async function sendBuffered(
  handler: BufferedHandler,
  event: APIGatewayProxyEvent,
  context: Context,
  response: ServerResponse,
  expired: Promise<never>,
): Promise<void> {
  const result = await Promise.race([handler(event, context), expired]);
  const { statusCode, headers, body = '' } = result as GatewayAnswer;
  if (Buffer.byteLength(body) > MAX_PAYLOAD_BYTES) {
    throw new Error('The function returned more than 6 MB.');
  }
  sendAnswer({ statusCode, headers, body }, response);
}

async function sendStreamed(
  handler: StreamedHandler,
  event: APIGatewayProxyEvent,
  context: Context,
  response: ServerResponse,
  expired: Promise<never>,
): Promise<void> {
  const stream = defineResponseStream(response);
  try {
    await Promise.race([writeWhole(handler(event, stream, context), stream), expired]);
  } catch (error) {
    if (stream.errored instanceof ClientLeft) return;
    stream.destroy(error as Error);
    throw error;
  }
}

async function writeWhole(handled: Promise<unknown>, stream: Writable): Promise<void> {
  await handled;
  if (!stream.writableEnded) throw new Error('The function did not end its response.');
  await finished(stream);
}
