import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import { countUnits } from '../../../shared/runtime/requestUnits.ts';
import { defineHandlerSettings } from '../../support/handlerSettings.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const { apiKey, settings } = defineHandlerSettings();

let log: MockInstance<typeof console.info>;
beforeEach(() => {
  log = vi.spyOn(console, 'info').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

/** One container, whose handler does something else for each petId. */
function defineContainer(answers: Record<string, () => Promise<Reply>>) {
  const handler = defineHandler(getPet, settings, ({ parameters: { petId } }) =>
    (answers[`${petId}`] ?? answerWell)(),
  );
  return async (petId: string, milliseconds = 28_000): Promise<HttpResponse> => {
    const event = toProxyRequest({ Authorization: [`Bearer ${apiKey}`] }, { petId });
    const request = { ...event, requestContext: { requestId: `request-${petId}` } };
    const context = { getRemainingTimeInMillis: () => milliseconds };
    return (await handler(request as never, context as never)) as HttpResponse;
  };
}

async function answerWell(): Promise<Reply> {
  countUnits('read', 0.5);
  return { body: { id: 8 } };
}

/** What the request of a petId logged. */
const lineOf = (petId: string) =>
  log.mock.calls.map(([line]) => line).filter(({ requestId }) => requestId === `request-${petId}`);

const right = { statusCode: 200, body: '{"id":8}', headers: { 'X-Request-Id': 'request-8' } };

it.each<[string, () => Promise<Reply>, number]>([
  ['throws', () => Promise.reject(new Error('a mistake')), 500],
  [
    'throws before it waits',
    () => {
      throw new TypeError('a mistake');
    },
    500,
  ],
  ['throws what is no error', () => Promise.reject('text'), 500],
  ['does not answer in time', () => new Promise(() => {}), 503],
])('a handler that %s leaves the next request right', async (_, answer, status) => {
  const call = defineContainer({ 7: answer });
  expect((await call('7', 1_050)).statusCode).toBe(status);
  expect(await call('8')).toMatchObject(right);
  expect(lineOf('7')).toMatchObject([{ status, readUnits: 0 }]);
  expect(lineOf('8')).toMatchObject([{ status: 200, readUnits: 0.5 }]);
});

it('what a request does after its time is over counts for no other, and answers none', async () => {
  const late = Promise.withResolvers<void>();
  const call = defineContainer({
    async 7() {
      await setTimeout(100);
      countUnits('read', 100);
      late.resolve();
      return { body: { id: 7 } };
    },
    async 8() {
      await late.promise;
      await setTimeout(5);
      return answerWell();
    },
  });
  expect((await call('7', 1_020)).statusCode).toBe(503);
  expect(await call('8')).toMatchObject(right);
  expect(lineOf('8')).toMatchObject([{ status: 200, readUnits: 0.5 }]);
  expect(lineOf('7')).toHaveLength(1);
});

it('requests at once that fail and hang leave those between them right', async () => {
  const call = defineContainer({
    7: () => new Promise(() => {}),
    9: () => Promise.reject(new Error('a mistake')),
  });
  const petIds = ['7', '8', '9', '8', '7', '8', '9'];
  const answers = await Promise.all(petIds.map((petId) => call(petId, 1_100)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([503, 200, 500, 200, 503, 200, 500]);
  expect(answers.map(({ headers }) => headers['X-Request-Id'])).toEqual(
    petIds.map((petId) => `request-${petId}`),
  );
  for (const { readUnits } of lineOf('8')) expect(readUnits).toBe(0.5);
});
