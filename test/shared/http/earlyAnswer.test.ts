import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import { defineHandlerSettings } from '../../support/handlerSettings.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const { apiKey, settings } = defineHandlerSettings();

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

it('a handler that waits is answered for with 503 a second before its time runs out', async () => {
  const handler = defineHandler(getPet, settings, () => new Promise(() => {}));
  const event = toProxyRequest({ Authorization: [`Bearer ${apiKey}`] }, { petId: '7' });
  const context = { getRemainingTimeInMillis: () => 1_100 };
  const answered = handler(event as never, context as never) as Promise<unknown>;
  // Timers that are due fire in their order, also on a machine that is late for all of them.
  const early = setTimeout(50, 'waiting');
  const late = setTimeout(1_000, 'too late');
  expect(await Promise.race([answered, early])).toBe('waiting');
  const response = (await Promise.race([answered, late])) as HttpResponse;
  expect(response).toMatchObject({ statusCode: 503 });
  expect(JSON.stringify(log.mock.calls)).toContain('The handler did not finish in time.');
  expect(response.headers).toMatchObject({ 'Retry-After': '5', 'X-Request-Id': 'request-1' });
});
