import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { streamedResponse } from '../../../shared/http/middleware/streamedResponse.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import type { Pages } from '../../../shared/http/reply.ts';
import { isOverdue } from '../../../shared/runtime/requestDeadline.ts';
import { defineHandlerSettings } from '../../support/handlerSettings.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const { apiKey, settings } = defineHandlerSettings();
const forever = () => new Promise<never>(() => {});

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

async function* neverPages(): Pages {
  yield await forever();
}

const waiting = {
  'the lookup of its key': defineHandler(
    getPet,
    { ...settings, verifier: { verify: forever } },
    forever,
  ),
  'its handler': defineHandler(getPet, settings, forever),
  'the first page of its stream': defineHandler(
    listInventory,
    settings,
    async () => ({ pages: neverPages() }),
    { response: streamedResponse() },
  ),
};

it.each(Object.entries(waiting))(
  'a request that waits for %s is answered 503 a second before its time runs out',
  async (_, handler) => {
    const event = toProxyRequest({ Authorization: [`Bearer ${apiKey}`] }, { petId: '7' });
    const context = { getRemainingTimeInMillis: () => 1_100 };
    const answered = (handler as Handler)(event, context);
    // Timers that are due fire in their order, also on a machine that is late for all of them.
    const early = setTimeout(50, 'waiting');
    const late = setTimeout(1_000, 'too late');
    expect(await Promise.race([answered, early])).toBe('waiting');
    const response = (await Promise.race([answered, late])) as HttpResponse;
    expect(response).toMatchObject({ statusCode: 503 });
    expect(JSON.stringify(log.mock.calls)).toContain('The request was not answered in time.');
    expect(response.headers).toMatchObject({ 'Retry-After': '5', 'X-Request-Id': 'request-1' });
  },
);

it('what a request still does after that is overdue, and that of the next request is not', async () => {
  const seen: [begun: boolean, late: boolean][] = [];
  const handler = defineHandler(getPet, settings, async () => {
    const begun = isOverdue();
    await setTimeout(150);
    seen.push([begun, isOverdue()]);
    return { body: {} };
  });
  const event = toProxyRequest({ Authorization: [`Bearer ${apiKey}`] }, { petId: '7' });
  const call = (milliseconds: number) =>
    handler(event as never, { getRemainingTimeInMillis: () => milliseconds } as never);
  await call(1_100);
  await call(28_000);
  expect(seen).toEqual([
    [false, true],
    [false, false],
  ]);
});
