import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import * as z from 'zod/mini';
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

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html */
const ProxyResult = z.object({
  statusCode: z.int().check(z.minimum(200), z.maximum(599)),
  headers: z.nullish(z.record(z.string(), scalar)),
  multiValueHeaders: z.nullish(z.record(z.string(), z.array(scalar))),
  body: z.nullish(z.string()),
});

/**
 * Reads what a function returned.
 * @throws {Error} when it is not a proxy result, or too large for one
 */
function parseProxyResult(result: unknown): GatewayAnswer {
  const parsed = z.safeParse(ProxyResult, result);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.');
    throw new Error(`The function did not return a proxy result${path ? ` (see ${path})` : ''}.`);
  }
  const { statusCode, headers, multiValueHeaders, body } = parsed.data;
  if (Buffer.byteLength(JSON.stringify(result)) > MAX_PAYLOAD_BYTES) {
    throw new Error('The function returned more than 6 MB.');
  }
  const lines = Object.entries({ ...headers, ...multiValueHeaders });
  const isTyped = lines.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    statusCode,
    headers: {
      ...(!isTyped && { 'Content-Type': 'application/json' }),
      ...Object.fromEntries(
        lines.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : `${value}`]),
      ),
    },
    body: body ?? '',
  };
}
