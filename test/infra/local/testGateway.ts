import { afterEach, beforeEach, type MockInstance, vi } from 'vitest';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { defineDrain } from '../../../infra/local/gateway/connections.ts';
import type { FaultInjection } from '../../../infra/local/gateway/faultInjection.ts';
import { defineGateway, type LambdaFunction } from '../../../infra/local/gateway/gateway.ts';
import { defineAwslambda } from '../../../infra/local/lambdaRuntime.ts';
import { operations } from '../../../shared/contract/operations.ts';

export const documentationAddress = 'https://docs.petstore.example';

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

/** A gateway on the contract's routes with a test's own handlers; other operations return 501. */
export async function startTestGateway(
  handlers: Partial<Record<keyof typeof operations, LambdaFunction['handler']>>,
  timeoutMilliseconds = 5_000,
  faultInjection?: FaultInjection,
) {
  defineAwslambda();
  const functions = Object.values(operations).map((operation) => ({
    operation,
    timeoutMilliseconds,
    handler: handlers[operation.operationId] ?? (async () => ({ statusCode: 501 })),
  }));
  const service = Promise.resolve({ functions, documentationAddress });
  const server = defineGateway(service, faultInjection);
  const drain = defineDrain(server);
  const port = await listen(server, 0, '');
  return { baseUrl: `http://127.0.0.1:${port}/v1`, port, drain };
}

/** What the gateway logs in a test, and does not print. */
export function keepGatewayLogs() {
  const logs = {} as Record<'info' | 'error', MockInstance>;
  beforeEach(() => {
    for (const level of ['info', 'error'] as const) {
      logs[level] = vi.spyOn(console, level).mockImplementation(() => {});
    }
  });
  afterEach(() => void vi.restoreAllMocks());
  return logs;
}
