import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { MAX_PAYLOAD_BYTES } from '../../gateway/gatewayErrors.ts';
import type { LambdaFunction } from '../lambdaFunction.ts';
import { ClientLeft, defineResponseStream, requestIds, toLambdaContext } from '../lambdaRuntime.ts';
import { type GatewayResponse, sendResponse } from './messages.ts';

/** The function exceeded its timeout. */
export class FunctionTimeout extends Error {
  override readonly name = 'FunctionTimeout';
}

/**
 * Calls a function and sends its response.
 * @throws {FunctionTimeout} when it takes too long
 * @throws the function's error, or an Error when its response is invalid
 */
export async function invoke(
  { operation, timeoutMilliseconds, handler }: LambdaFunction,
  event: APIGatewayProxyEvent,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const context = toLambdaContext(operation.operationId, requestId, timeoutMilliseconds);
  const stream = operation.streamed ? defineResponseStream(response) : undefined;
  const call = async (...values: unknown[]) => handler(...(values as never[]));
  let expire: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    const message = `The function did not respond within ${timeoutMilliseconds / 1000} seconds.`;
    expire = setTimeout(() => reject(new FunctionTimeout(message)), timeoutMilliseconds);
  });
  try {
    const work = requestIds.run(requestId, () =>
      stream ? writeWhole(call(event, stream, context), stream) : call(event, context),
    );
    const result = await Promise.race([work, expired]);
    if (!stream) sendWhole(result as GatewayResponse, response);
  } catch (error) {
    if (stream?.errored instanceof ClientLeft) return;
    stream?.destroy(error as Error);
    throw error;
  } finally {
    clearTimeout(expire);
  }
}

async function writeWhole(handled: Promise<unknown>, stream: Writable): Promise<void> {
  await handled;
  if (!stream.writableEnded) throw new Error('The function did not end its response.');
  await finished(stream);
}

function sendWhole({ statusCode, headers, body = '' }: GatewayResponse, response: ServerResponse) {
  if (Buffer.byteLength(body) > MAX_PAYLOAD_BYTES) {
    throw new Error('The function returned more than 6 MB.');
  }
  sendResponse({ statusCode, headers, body }, response);
}
