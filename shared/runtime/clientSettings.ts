import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { readVariable } from './environment.ts';

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
