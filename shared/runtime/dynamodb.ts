import type { Readable } from 'node:stream';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { StoreUnavailable } from '../contract/errors.ts';
import { readVariable } from './environment.ts';
import { isOutage } from './isOutage.ts';
import { callBounds, limitReplyTime } from './replyTime.ts';
import { countFailedWrite, countUnits } from './requestUnits.ts';
import { Sha256 } from './sha256.ts';

interface Consumed {
  readonly CapacityUnits?: number;
}

/** A batch tells of each table that it touched. */
interface Answer {
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
}

/** What tells one client of a function from another. */
export interface ClientKind {
  /**
   * Makes a command's chain of middleware once for all commands of its class, which takes a tenth off a small
   * call. A command with middleware of its own must not be sent by such a client: its middleware would be left
   * out, or stay for every command after it.
   */
  readonly cacheMiddleware?: boolean;
  /** Another client, whose connections this one uses. */
  readonly beside?: DynamoDBClient;
}

/**
 * A client that obeys the SDK's own variables (`AWS_REGION`, `AWS_ENDPOINT_URL_DYNAMODB`, …).
 * Its calls throw `StoreUnavailable` in place of what the SDK throws when DynamoDB throttles, fails or
 * cannot be reached or understood through every retry, and count the request units that they consume; of a write whose
 * condition fails too, although DynamoDB does not say how much it bills for that.
 */
export function defineDynamoDB({
  cacheMiddleware = false,
  beside,
}: ClientKind = {}): DynamoDBClient {
  const client = new DynamoDBClient({
    ...toClientSettings(),
    ...callBounds,
    sha256: Sha256,
    streamCollector: collectReply,
    ...(beside && { requestHandler: beside.config.requestHandler }),
    cacheMiddleware,
  });
  // It walks everything that is sent and answered, also where there is no logger to tell of it.
  client.middlewareStack.remove('loggerMiddleware');
  // It puts the names of the SDK and of the runtime together anew for each call, and nobody reads them.
  client.middlewareStack.remove('getUserAgentMiddleware');
  limitReplyTime(client);
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async function meterCall(args) {
        try {
          const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' };
          const result = await next({ ...args, input });
          const { ConsumedCapacity = [] } = result.output as Answer;
          const kind = /^(Update|Put|Delete|TransactWrite)/.test(commandName) ? 'write' : 'read';
          for (const { CapacityUnits = 0 } of [ConsumedCapacity].flat()) {
            countUnits(kind, CapacityUnits);
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
    // The outermost step and place: outside the SDK's retries.
    { priority: 'high' },
  );
  return client;
}

/**
 * What the SDK would look for in the environment and then in configuration files, which a function does not
 * have, at its first call: all of it is said here, so that no file is looked for. The environment still
 * counts, for region, endpoint and the endpoint's kind; credentials have a provider of their own.
 * @throws {Error} when there is no region
 */
export function toClientSettings(): DynamoDBClientConfig {
  const endpoint = toEndpoint();
  return {
    region: readVariable('AWS_REGION'),
    ...(endpoint !== undefined && { endpoint }),
    ignoreConfiguredEndpointUrls: true,
    useDualstackEndpoint: isSet('AWS_USE_DUALSTACK_ENDPOINT'),
    useFipsEndpoint: isSet('AWS_USE_FIPS_ENDPOINT'),
    // Needs the account's id, which a function's credentials come without.
    accountIdEndpointMode: 'disabled',
    endpointDiscoveryEnabledProvider: async () => undefined,
    authSchemePreference: [],
    disableClockSkewCorrection: false,
    defaultsMode: 'legacy',
    retryMode: 'standard',
    userAgentAppId: async () => undefined,
  };
}

/** https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html */
function toEndpoint(): string | undefined {
  if (isSet('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS')) return undefined;
  const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL } = process.env;
  return AWS_ENDPOINT_URL_DYNAMODB || AWS_ENDPOINT_URL || undefined;
}

function isSet(name: string): boolean {
  return process.env[name]?.toLowerCase() === 'true';
}

/**
 * The bytes of a reply. The SDK's own way is to ask whether they come in a stream of the web, for which Node.js loads
 * all of those, and to pipe them into a stream, for which it makes the ones of the standard output: some
 * milliseconds of each cold start.
 */
function collectReply(reply: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    reply.on('data', (chunk: Buffer) => chunks.push(chunk));
    reply.on('end', () => resolve(Buffer.concat(chunks)));
    reply.on('error', reject);
  });
}
