import type { Readable } from 'node:stream';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { readVariable } from '../environment.ts';
import { Sha256 } from './sha256.ts';

/**
 * Settings that the SDK would otherwise read at its first call from the environment, then from configuration files. A
 * function has no such files, so this sets all of them. Region, endpoint and the endpoint's kind still come from the
 * environment; credentials have their own provider.
 * @throws {Error} if there is no region
 */
export function readClientSettings(): DynamoDBClientConfig {
  const endpoint = readEndpoint();
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
    sha256: Sha256,
    streamCollector: collectReply,
  };
}

/** https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html */
function readEndpoint(): string | undefined {
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
