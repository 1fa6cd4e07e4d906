import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { StoreUnavailable } from '../contract/errors.ts';
import { isOutage } from './isOutage.ts';
import { callBounds, limitReplyTime } from './replyTime.ts';
import { countFailedWrite, countUnits, isWrite } from './requestUnits.ts';
import { removeIdleMiddleware, toClientSettings } from './sdk/settings.ts';

interface Consumed {
  readonly CapacityUnits?: number;
}

/** A batch reports each table. */
interface Response {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
}

export interface ClientKind {
  /**
   * Builds a command's middleware once for all commands of its class, which saves a tenth of a small call. Do not send
   * a command with its own middleware: the client would ignore that middleware, or keep it for later commands.
   */
  readonly cacheMiddleware?: boolean;
  /** Another client; this one shares its connections. */
  readonly beside?: DynamoDBClient;
}

/**
 * A client that obeys the SDK's own variables (`AWS_REGION`, `AWS_ENDPOINT_URL_DYNAMODB`, …). Its calls throw
 * `StoreUnavailable` if every retry fails because DynamoDB throttles, fails, cannot be reached or sends unreadable
 * replies. They count the request units that they consume. That includes failed conditional writes, although DynamoDB
 * does not report their units.
 */
export function defineDynamoDB({
  cacheMiddleware = false,
  beside,
}: ClientKind = {}): DynamoDBClient {
  const client = new DynamoDBClient({
    ...toClientSettings(),
    ...callBounds,
    ...(beside && { requestHandler: beside.config.requestHandler }),
    cacheMiddleware,
  });
  removeIdleMiddleware(client);
  limitReplyTime(client);
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async function meterCall(args) {
        try {
          const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' };
          const result = await next({ ...args, input });
          const { ConsumedCapacity = [] } = result.output as Response;
          for (const { CapacityUnits = 0 } of [ConsumedCapacity].flat()) {
            countUnits(isWrite(commandName) ? 'write' : 'read', CapacityUnits);
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
    // The outermost position: outside the SDK's retries.
    { priority: 'high' },
  );
  return client;
}
