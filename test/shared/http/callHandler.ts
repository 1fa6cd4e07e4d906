import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterEach, beforeEach, type MockInstance, vi } from 'vitest';
import type { Permission } from '../../../shared/contract/operation.ts';
import type { HttpSettings } from '../../../shared/http/defineHandler.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';
import { countUnits } from '../../../shared/runtime/requestUnits.ts';

/** A key, and the settings of handlers that know only this key. @param units of its lookup */
export function defineHandlerSettings(permission: Permission, key = mintApiKey(), units = 0) {
  const { apiKey, keyId, secretHash } = key;
  const record = { keyId, secretHash, name: 'test', permission, createdAt: '' };
  const get = async (id: string) => {
    countUnits('read', units);
    return id === keyId ? record : undefined;
  };
  const settings: HttpSettings = {
    verifier: defineKeyVerifier({ get }),
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
  const logs = {} as Record<'info' | 'warn' | 'error', MockInstance<typeof console.info>>;
  beforeEach(() => {
    for (const level of ['info', 'warn', 'error'] as const) {
      logs[level] = vi.spyOn(console, level).mockImplementation(() => {});
    }
  });
  afterEach(() => vi.restoreAllMocks());
  return logs;
}

/** An event as a REST API's proxy integration sends it, with the parts that the functions read. */
export function toProxyRequest(
  headers: Record<string, string[]> = {},
  pathParameters: Record<string, string> | null = null,
): APIGatewayProxyEvent {
  return {
    multiValueHeaders: headers,
    pathParameters,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: 'request-1' },
  } as unknown as APIGatewayProxyEvent;
}
