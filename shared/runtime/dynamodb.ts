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
import { countFailedWrite, countUnits, isWrite } from './requestUnits.ts';
import { Sha256 } from './sha256.ts';

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
    sha256: Sha256,
    streamCollector: collectReply,
    ...(beside && { requestHandler: beside.config.requestHandler }),
    cacheMiddleware,
  });
  // It walks every input and output, even without a logger.
  client.middlewareStack.remove('loggerMiddleware');
  // It builds the user agent again for each call, and nobody reads it.
  client.middlewareStack.remove('getUserAgentMiddleware');
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

/**
 * Settings that the SDK would otherwise read at its first call from the environment, then from configuration files. A
 * function has no such files, so this sets all of them. Region, endpoint and the endpoint's kind still come from the
 * environment; credentials have their own provider.
 * @throws {Error} if there is no region
 */
export function toClientSettings(): DynamoDBClientConfig {
  const endpoint = toEndpoint();
  return {
    region: readVariable('AWS_REGION'),
    ...(endpoint !== undefined && { endpoint }),
    ignoreConfiguredEndpointUrls: true,
    useDualstackEndpoint: isSet('AWS_USE_DUALSTACK_ENDPOINT'),
    useFipsEndpoint: isSet('AWS_USE_FIPS_ENDPOINT'),
    // Needs the account id, which a function's credentials do not have.
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
 * Collects the bytes of a reply. The SDK's own collector checks for a web stream, so Node.js loads all web streams. It
 * also pipes into a stream, so Node.js creates those of the standard output. Both cost each cold start some
 * milliseconds.
 */
function collectReply(reply: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    reply.on('data', (chunk: Buffer) => chunks.push(chunk));
    reply.on('end', () => resolve(Buffer.concat(chunks)));
    reply.on('error', reject);
  });
}
