import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { StoreUnavailable } from '../contract/errors.ts';
import { callBounds, limitReplyTime } from './replyTime.ts';
import { countFailedWrite, countUnits, isWrite } from './requestUnits.ts';
import { readClientSettings } from './sdk/settings.ts';

interface Consumed {
  readonly CapacityUnits?: number;
}

/** A batch reports each table. */
interface Response {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
}

/**
 * With `cacheMiddleware`, a client builds a command's middleware once for all commands of its class. It would ignore a
 * command's own middleware, or keep it for later commands, so the document client and `scanPage` need one without.
 */
export type ClientKind = Pick<DynamoDBClientConfig, 'cacheMiddleware'>;

/**
 * A client that obeys the SDK's own variables (`AWS_REGION`, `AWS_ENDPOINT_URL_DYNAMODB`, …). Its calls throw
 * `StoreUnavailable` if every retry fails because DynamoDB throttles, fails, cannot be reached or sends unreadable
 * replies. They count the request units that they consume. That includes failed conditional writes, although DynamoDB
 * does not report their units.
 */
export function defineDynamoDB(kind: ClientKind = {}): DynamoDBClient {
  const client = new DynamoDBClient({ ...readClientSettings(), ...callBounds, ...kind });
  // It walks every input and output, even without a logger.
  client.middlewareStack.remove('loggerMiddleware');
  // It builds the user agent again for each call, and nobody reads it.
  client.middlewareStack.remove('getUserAgentMiddleware');
  limitReplyTime(client);
  // In the first step, so outside the SDK's retries.
  client.middlewareStack.add(
    (next, { commandName }) =>
      async function meterCall(args) {
        try {
          const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' };
          const result = await next({ ...args, input });
          const { ConsumedCapacity = [] } = result.output as Response;
          for (const { CapacityUnits = 0 } of [ConsumedCapacity].flat()) {
            countUnits(isWrite(String(commandName)) ? 'write' : 'read', CapacityUnits);
          }
          return result;
        } catch (error) {
          if (error instanceof ConditionalCheckFailedException) countFailedWrite(1);
          if (error instanceof TransactionCanceledException) {
            countFailedWrite(2 * (error.CancellationReasons?.length ?? 0));
          }
          throw isOutage(error) ? new StoreUnavailable(error) : error;
        }
      },
  );
  return client;
}

/**
 * Whether DynamoDB throttled, failed or was not reached. These are the errors that the SDK itself retries. Any other
 * error is our own mistake.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
export function isOutage(error: unknown): boolean {
  const failure = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(failure) || isTransientError(failure) || isServerError(failure);
}
