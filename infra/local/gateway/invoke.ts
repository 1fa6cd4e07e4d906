import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { withRequestId } from '../lambda/lambdaConsole.ts';
import { toLambdaContext } from '../lambda/lambdaContext.ts';
import type { BufferedHandler, LambdaFunction, StreamedHandler } from '../lambda/lambdaFunction.ts';
import { sendAnswer } from './gatewayAnswer.ts';
import { parseProxyResult } from './proxyResult.ts';
import { ClientLeft, defineResponseStream } from './responseStream.ts';

/** The function took longer than it may. */
export class FunctionTimeout extends Error {
  override readonly name = 'FunctionTimeout';

  constructor(milliseconds: number) {
    super(`The function did not answer within ${milliseconds / 1000} seconds.`);
  }
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
    const fail = () => reject(new FunctionTimeout(timeoutMilliseconds));
    expire = setTimeout(fail, timeoutMilliseconds);
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
  sendAnswer(parseProxyResult(result), response);
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
