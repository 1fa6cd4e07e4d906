import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { toProxyEvent } from '../../infra/gateway/proxyEvent.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import type { Bundles } from './buildBundles.ts';
import type { CannedEndpoints, CannedTable } from './canned/cannedDynamoDB.ts';
import { type ChildProcess, startChild } from './childProcess.ts';
import type { Loaded, RunResult } from './functionProcess.ts';
import { interleave, summarize } from './report.ts';

export interface PartInput {
  readonly host: FunctionHost;
  readonly bundles: Bundles;
  /** Fewer measurements. */
  readonly quick: boolean;
}

export type FunctionHost = Awaited<ReturnType<typeof startFunctionHost>>;

/** A canned DynamoDB and functions on it, each in a process of its own. */
export async function startFunctionHost(bundles: Bundles) {
  const canned = await startChild<CannedEndpoints>(
    new URL('canned/cannedDynamoDB.ts', import.meta.url).pathname,
  );
  const { keyId, secretHash, apiKey } = mintApiKey();
  const createdAt = new Date().toISOString();
  const key = { keyId, secretHash, name: 'bench', permission: 'write', createdAt };
  const { endpoint, secureEndpoint, certificate } = canned.first;
  const trusted = join(dirname(bundles.functionProcess), 'certificate.pem');
  writeFileSync(trusted, certificate);

  /** @param isSecure whether DynamoDB speaks TLS */
  function startFunction(bundle: string, isSecure = false): Promise<ChildProcess<Loaded>> {
    return startChild(bundles.functionProcess, [bundle, isSecure ? secureEndpoint : endpoint], {
      NODE_DISABLE_COMPILE_CACHE: '1',
      ...(isSecure && { NODE_EXTRA_CA_CERTS: trusted }),
    });
  }

  return {
    apiKey,
    setEntries: (entries: number) => canned.ask({ entries, key } satisfies CannedTable),
    startFunction,
    /** One request in a fresh process. */
    async runOnce(bundle: string, event: APIGatewayProxyEvent, isSecure = false) {
      const child = await startFunction(bundle, isSecure);
      const result = await child.ask<RunResult>({ event, times: 1 });
      await child.end();
      return { loaded: child.first, result };
    },
  };
}

export interface Contender {
  readonly bundle: string;
  readonly event: APIGatewayProxyEvent;
}

/**
 * Measures the CPU of one request of each contender, in milliseconds, in turns.
 * @param runs `times` requests are one measurement. After so many for `settling`, the compiler has settled.
 */
export async function measureInTurns<Name extends string>(
  host: FunctionHost,
  contenders: Readonly<Record<Name, Contender>>,
  { times, rounds, settling }: Readonly<Record<'times' | 'rounds' | 'settling', number>>,
) {
  const functions = await Promise.all(
    Object.entries<Contender>(contenders).map(async ([name, { bundle, event }]) => {
      const child = await host.startFunction(bundle);
      return { name, child, run: () => child.ask<RunResult>({ event, times }) };
    }),
  );
  await interleave(functions, settling, ({ run }) => run());
  const samples = await interleave(functions, rounds, ({ run }) => run());
  await Promise.all(functions.map(({ child }) => child.end()));
  const toMeasured = (results: readonly RunResult[]) => ({
    cpu: summarize(results.map(({ cpuMilliseconds }) => cpuMilliseconds / times)),
    bytes: results[0]?.bytes ?? NaN,
  });
  const measured = [...samples].map(([{ name }, results]) => [name, toMeasured(results)]);
  return Object.fromEntries(measured) as Record<Name, ReturnType<typeof toMeasured>>;
}

const bodies: Readonly<Partial<Record<OperationId, string>>> = {
  updateInventory: '{"quantity":7}',
  adjustInventory: '{"adjustments":[{"petId":7,"delta":-1}]}',
};

/** An event as API Gateway sends it, to which the operation responds with 200. */
export function toEvent(
  operationId: OperationId,
  apiKey: string,
  headers: Record<string, string> = {},
  query = '',
): APIGatewayProxyEvent {
  const body = bodies[operationId] ?? null;
  const { method, path: resource, requestHeaders }: Operation = operations[operationId];
  const sent = {
    Host: 'api.petstore.example',
    Authorization: `Bearer ${apiKey}`,
    'User-Agent': 'petstore-storefront/1.0',
    ...(body !== null && { 'Content-Type': 'application/json' }),
    ...(requestHeaders?.includes('Idempotency-Key') && { 'Idempotency-Key': 'order-1234' }),
    ...headers,
  };
  const path = resource.replace('{petId}', '7');
  const request = {
    requestId: '8f3a1c52-7d0e-4b6f-9a21-5c4d3e2f1a0b',
    method,
    path,
    query: new URLSearchParams(query),
    headerLines: Object.entries(sent),
    sourceIp: '192.0.2.1',
  };
  return toProxyEvent(request, resource, body);
}
