import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterEach, beforeEach, type MockInstance, vi } from 'vitest';
import type { Permission } from '../../../shared/contract/operation.ts';
import type { HttpSettings } from '../../../shared/http/defineHandler.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

/** A key, and the settings of handlers that know only this key. */
export function defineHandlerSettings(permission: Permission) {
  const { apiKey, keyId, secretHash } = mintApiKey();
  const record = { keyId, secretHash, name: 'test', permission, createdAt: '' };
  const settings: HttpSettings = {
    verifier: defineKeyVerifier({ get: async (id) => (id === keyId ? record : undefined) }),
    allowedOrigins: ['*'],
    documentationAddress: 'https://docs.petstore.example',
  };
  return { apiKey, settings };
}

/** Those of a key with write permission, which `call` sends by default. */
export const { apiKey, settings } = defineHandlerSettings('write');

export const withKey = (key: string) => ({ Authorization: [`Bearer ${key}`] });

interface Sent {
  readonly headers?: Record<string, string[]>;
  readonly event?: Partial<Record<keyof APIGatewayProxyEvent, unknown>>;
  readonly context?: Partial<Context>;
}

/** Calls a handler with API Gateway's event for a request for petId 7. */
export async function call(
  handler: unknown,
  { headers, event, context = {} }: Sent = {},
): Promise<HttpResponse> {
  const json = { 'Content-Type': ['application/json'] };
  const request = toProxyRequest({ ...withKey(apiKey), ...json, ...headers }, { petId: '7' });
  const invoke = handler as (event: object, context: object) => Promise<HttpResponse>;
  return invoke({ ...request, ...event }, context);
}

/** Captures the log lines of each test of a file. */
export function useLogs() {
  const logs = {} as Record<'info' | 'error', MockInstance<typeof console.info>>;
  beforeEach(() => {
    for (const level of ['info', 'error'] as const) {
      logs[level] = vi.spyOn(console, level).mockImplementation(() => {});
    }
  });
  afterEach(() => vi.restoreAllMocks());
  return logs;
}
