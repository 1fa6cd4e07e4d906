import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { callBounds } from '../../../../shared/runtime/replyTime.ts';

/** With our own bounds, whose timers are part of what a call costs. */
export const client = new DynamoDBClient(callBounds);

/** The answer of a handler that checks nothing and adds nothing. */
export function toAnswer(body: unknown) {
  return {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
}
