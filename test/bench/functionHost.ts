import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { toProxyEvent } from '../../infra/local/gateway/proxyEvent.ts';
import { type TableDefinition, tables } from '../../infra/stages/tables.ts';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import type { Bundles } from './buildBundles.ts';
import type { CannedEndpoints, CannedTable } from './canned/cannedDynamoDB.ts';
import { type ChildProcess, startChild } from './childProcess.ts';
import type { Loaded } from './functionProcess.ts';

/** What each benchmark is given. */
export interface PartInput {
  readonly bundles: Bundles;
  /** Fewer measurements and no list of a million entries. */
  readonly quick: boolean;
  /** Where the function processes leave their CPU profiles. */
  readonly profile: string | undefined;
  /** Says what is being measured, for whoever waits. */
  readonly report: (line: string) => void;
}

export type FunctionHost = Awaited<ReturnType<typeof startFunctionHost>>;

/** A canned DynamoDB and functions on it, each in a process of its own. */
export async function startFunctionHost({ bundles, profile }: PartInput) {
  const canned = await startChild<CannedEndpoints>(
    new URL('canned/cannedDynamoDB.ts', import.meta.url).pathname,
  );
  const { keyId, secretHash, apiKey } = mintApiKey();
  const createdAt = new Date().toISOString();
  const key = { keyId, secretHash, name: 'bench', permission: 'write', createdAt };
  let started = 0;
  /** Sets how long the inventory is, and each answer takes. */
  const setEntries = async (entries: number, delayMilliseconds = 0) => {
    await canned.ask({ entries, key, delayMilliseconds } satisfies CannedTable);
  };
  await setEntries(50);
  const { endpoint, secureEndpoint, certificate } = canned.first;
  const trusted = join(dirname(bundles.functionProcess), 'certificate.pem');
  writeFileSync(trusted, certificate);
  return {
    /** Valid, with write permission. */
    apiKey,
    setEntries,
    /**
     * @param name what its CPU profile is called, if one is wanted
     * @param isSecure whether DynamoDB speaks TLS
     */
    startFunction(bundle: string, name: string, isSecure = false): Promise<ChildProcess<Loaded>> {
      started += 1;
      const file = `${started}-${name.replaceAll(/\W+/g, '-')}.cpuprofile`;
      const environment = isSecure
        ? { ...toFunctionEnvironment(secureEndpoint), NODE_EXTRA_CA_CERTS: trusted }
        : toFunctionEnvironment(endpoint);
      const nodeOptions =
        profile === undefined
          ? []
          : ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${file}`];
      return startChild(bundles.functionProcess, [bundle], { environment, nodeOptions });
    },
    end: () => canned.end(),
  };
}

/** An event that the operation answers with 200, as API Gateway sends it. */
export function toEvent(
  operationId: OperationId,
  apiKey: string,
  headers: Record<string, string> = {},
  query = '',
): APIGatewayProxyEvent {
  const { method, path: resource } = operations[operationId];
  const petId = resource.includes('{petId}') ? { petId: '7' } : {};
  const body = method === 'PATCH' ? '{"quantity":7}' : null;
  const sent = {
    Host: 'api.petstore.example',
    Authorization: `Bearer ${apiKey}`,
    'User-Agent': 'petstore-storefront/1.0',
    ...(body !== null && { 'Content-Type': 'application/json' }),
    ...headers,
  };
  const path = resource.replace('{petId}', '7');
  const request = {
    requestId: '8f3a1c52-7d0e-4b6f-9a21-5c4d3e2f1a0b',
    method,
    fullPath: `/v1${path}`,
    path,
    query: new URLSearchParams(query),
    headerLines: Object.entries(sent),
    sourceIp: '192.0.2.1',
  };
  return toProxyEvent(request, resource, petId, body);
}

/** The variables that a function finds on Lambda, with DynamoDB at this endpoint. */
function toFunctionEnvironment(endpoint: string): Record<string, string> {
  const names = Object.entries<TableDefinition>(tables);
  return {
    // https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_SESSION_TOKEN: 'bench',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_LAMBDA_FUNCTION_VERSION: '1',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    LAMBDA_TASK_ROOT: '/var/task',
    TZ: ':UTC',
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    ALLOWED_ORIGINS: '*',
    DOCUMENTATION_ADDRESS: 'https://docs.petstore.example',
    ...Object.fromEntries(names.map(([name, { variable }]) => [variable, name])),
  };
}
