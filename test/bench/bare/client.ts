import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** With the bounds of `shared/runtime/dynamodb.ts`, whose timers are part of what a call costs. */
export const client = new DynamoDBClient({
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: 3_000,
    socketTimeout: 3_000,
    throwOnRequestTimeout: true,
  },
});

/** The answer of a handler that checks nothing and adds nothing. */
export function toAnswer(body: unknown) {
  return {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
}
