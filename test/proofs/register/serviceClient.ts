import { Readable } from 'node:stream';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { StandardRetryStrategy } from '@smithy/core/retry';
import { defineDynamoDB } from '../../../shared/runtime/dynamodb.ts';
import type { Call, Reply } from './database.ts';

/** The service's own client. Each attempt of a call goes to `send` instead of a network. */
export function defineServiceClient(send: (call: Call) => Promise<Reply>): DynamoDBClient {
  const requestHandler = {
    async handle({ headers, body: sent }: { headers: Record<string, string>; body: Uint8Array }) {
      const [, action = ''] = headers['x-amz-target']?.split('.') ?? [];
      const parameters = JSON.parse(new TextDecoder().decode(sent));
      const { status: statusCode, body: reply } = await send({ action, parameters });
      const stream = new Readable({ read() {} });
      stream.push(JSON.stringify(reply));
      stream.push(null);
      const body = Object.assign(stream, { complete: true });
      return { response: new HttpResponse({ statusCode, headers: {}, body }) };
    },
  };
  const client = defineDynamoDB({ cacheMiddleware: true });
  client.config.requestHandler = requestHandler as never;
  // Every call has its whole budget of retries, after any earlier failures.
  client.config.retryStrategy = async () => new StandardRetryStrategy(client.config.maxAttempts);
  // Nobody checks signatures, which would take half of the time.
  client.config.signer = async () => ({ sign: async (request: unknown) => request }) as never;
  return client;
}

/** From now on, the client's errors do not say how often a call was attempted. */
export function hideAttempts({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw Object.assign(error as object, { $metadata: {} });
      }
    },
    { step: 'initialize', priority: 'low' },
  );
}

/** Pauses take no time: the call after a pause may still come late, since its turn is drawn. */
export function skipPauses(isAttempt: () => boolean): Disposable {
  const { setTimeout: wait } = globalThis;
  globalThis.setTimeout = ((...timer: Parameters<typeof wait>) =>
    isAttempt() ? globalThis.setImmediate(timer[0]) : wait(...timer)) as typeof wait;
  return {
    [Symbol.dispose]() {
      globalThis.setTimeout = wait;
    },
  };
}
