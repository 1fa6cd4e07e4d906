import { Readable } from 'node:stream';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { StandardRetryStrategy } from '@smithy/core/retry';
import { setFunctionEnvironment } from '../../../../infra/local/lambda/lambdaRuntime.ts';
import { defineDynamoDB } from '../../../../shared/runtime/dynamodb.ts';
import type { Call, Reply } from './memoryDatabase.ts';

/** The service's own client, whose every attempt at a call goes to `send` in place of a network. */
export function defineServiceClient(send: (call: Call) => Promise<Reply>): DynamoDBClient {
  setFunctionEnvironment('http://127.0.0.1', 'https://docs.petstore.example');
  const requestHandler = {
    async handle({ headers, body }: { headers: Record<string, string>; body: Uint8Array }) {
      const [, action = ''] = headers['x-amz-target']?.split('.') ?? [];
      const parameters = JSON.parse(new TextDecoder().decode(body));
      return { response: toResponse(await send({ action, parameters })) };
    },
  };
  const client = defineDynamoDB({
    cacheMiddleware: true,
    beside: { config: { requestHandler } } as unknown as DynamoDBClient,
  });
  // What failed before leaves each call its whole budget of retries.
  client.config.retryStrategy = async () => new StandardRetryStrategy(client.config.maxAttempts);
  // Nobody looks at signatures, which would take half of the time.
  client.config.signer = async () => ({ sign: async (request: unknown) => request }) as never;
  return client;
}

function toResponse({ status: statusCode, body }: Reply): HttpResponse {
  const stream = new Readable({ read() {} });
  stream.push(JSON.stringify(body));
  stream.push(null);
  return new HttpResponse({
    statusCode,
    headers: {},
    body: Object.assign(stream, { complete: true }),
  });
}
