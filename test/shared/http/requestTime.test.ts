import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { getInventoryEntry } from '../../../shared/contract/operations/getInventoryEntry.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { streamedResponse } from '../../../shared/http/middleware/streamedResponse.ts';
import type { Pages, Reply } from '../../../shared/http/operationRequest.ts';
import { isOverdue } from '../../../shared/runtime/replyTime.ts';
import { countUnits } from '../../../shared/runtime/requestUnits.ts';
import { call, settings, useLogs } from './callHandler.ts';

const logs = useLogs();
const forever = () => new Promise<never>(() => {});

async function* neverPages(): Pages {
  yield await forever();
}

const silentKeys = { ...settings, verifier: { verify: forever } };
const response = streamedResponse(listInventory);
const endless = async () => ({ pages: neverPages() });

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const within = (milliseconds: number) => ({ getRemainingTimeInMillis: () => milliseconds });

it.each([
  ['the lookup of its key', defineHandler(getInventoryEntry, silentKeys, forever)],
  ['its handler', defineHandler(getInventoryEntry, settings, forever)],
  ['its first page', defineHandler(listInventory, settings, endless, { response })],
])('a request that waits for %s gets 503 one second before its timeout', async (...row) => {
  const responded = call(row[1], { context: within(28_000) });
  const early = vi.advanceTimersByTimeAsync(26_999).then(() => 'waiting');
  expect(await Promise.race([responded, early])).toBe('waiting');
  const late = vi.advanceTimersByTimeAsync(1).then(() => new Promise(setImmediate));
  expect(await Promise.race([responded, late])).toMatchObject({
    statusCode: 503,
    headers: { 'Retry-After': '5', 'X-Request-Id': 'request-1' },
  });
  expect(JSON.stringify(logs.error.mock.calls)).toContain('The request timed out.');
});

/** One container with a handler that responds to each petId in its own way. */
function defineContainer(responses: Record<string, () => Promise<Reply>>) {
  const handler = defineHandler(getInventoryEntry, settings, ({ parameters: { petId } }) =>
    (responses[`${petId}`] ?? respondWell)(),
  );
  return async (petId: string, milliseconds = 28_000) => {
    const requestContext = { requestId: `request-${petId}` };
    const event = { pathParameters: { petId }, requestContext };
    const responded = call(handler, { event, context: within(milliseconds) });
    let isOver = false;
    void responded.then(() => {
      isOver = true;
    });
    while (!isOver) await vi.advanceTimersToNextTimerAsync();
    return responded;
  };
}

async function respondWell(): Promise<Reply> {
  countUnits('read', 0.25);
  await pause(5);
  countUnits('read', 0.25);
  return { body: { id: 8 } };
}

/** Expects that the request for petId 8 gets its response and log line as if there were no other. */
async function expectRight(call: ReturnType<typeof defineContainer>): Promise<void> {
  const headers = { 'X-Request-Id': 'request-8' };
  expect(await call('8')).toMatchObject({ statusCode: 200, body: '{"id":8}', headers });
  expect(lineOf('8')).toMatchObject([{ status: 200, readUnits: 0.5 }]);
  expect(vi.getTimerCount()).toBe(0);
}

/** The log lines of a petId's request. */
const lineOf = (petId: string) =>
  logs.info.mock.calls
    .map(([line]) => line)
    .filter(({ requestId }) => requestId === `request-${petId}`);

const throwNow = () => {
  throw new TypeError('a mistake');
};

it.each<[string, () => Promise<Reply>, number]>([
  ['throws before it waits', throwNow, 500],
  ['throws a text', () => Promise.reject('text'), 500],
  ['times out', forever, 503],
])('a handler that %s does not disturb the next request', async (_, response, status) => {
  const call = defineContainer({ 7: response });
  expect((await call('7', 1_050)).statusCode).toBe(status);
  expect(lineOf('7')).toMatchObject([{ status, readUnits: 0 }]);
  await expectRight(call);
});

it('work after a request’s timeout is overdue, and neither counts for nor responses another request', async () => {
  const late = Promise.withResolvers<void>();
  const seen: boolean[] = [];
  const call = defineContainer({
    async 7() {
      seen.push(isOverdue());
      await pause(100);
      seen.push(isOverdue());
      countUnits('read', 100);
      late.resolve();
      return { body: { id: 7 } };
    },
    async 8() {
      seen.push(isOverdue());
      await late.promise;
      await pause(5);
      seen.push(isOverdue());
      return respondWell();
    },
  });
  expect((await call('7', 1_020)).statusCode).toBe(503);
  await expectRight(call);
  expect(lineOf('7')).toHaveLength(1);
  expect(seen).toEqual([false, false, true, false]);
});
