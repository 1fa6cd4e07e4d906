import type { Writable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { defineAwslambda } from '../../../infra/local/lambdaRuntime.ts';
import { StoreUnavailable } from '../../../shared/contract/errors.ts';
import { getInventoryEntry } from '../../../shared/contract/operations/getInventoryEntry.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { updateInventory } from '../../../shared/contract/operations/updateInventory.ts';
import { UNUSED_ID } from '../../../shared/contract/values.ts';
import { defineHandler, defineStreamedHandler } from '../../../shared/http/defineHandler.ts';
import { defineWarmUp } from '../../../shared/http/warmUp.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';
import { isOverdue } from '../../../shared/runtime/replyTime.ts';
import { countUnits, meterRequest } from '../../../shared/runtime/requestUnits.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import { call, settings, useLogs } from './callHandler.ts';

const logs = useLogs();
const pathParameters = { petId: UNUSED_ID };
const response = async () => ({ body: {} });

const warmUpRead = (...[by, from = settings]: [by: typeof response, from?: typeof settings]) =>
  defineWarmUp(getInventoryEntry, defineHandler(getInventoryEntry, from, by), { pathParameters })();

it('a warm-up runs one complete request with write permission, and logs nothing', async () => {
  const update = vi.fn(response);
  await defineWarmUp(updateInventory, defineHandler(updateInventory, settings, update), {
    pathParameters,
    headers: { 'If-None-Match': '*' },
  })();
  const parameters = { petId: BigInt(UNUSED_ID) };
  const input = { parameters, body: { quantity: 0 }, ifMatch: [] };
  expect(update).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(input));
  expect(logs.info).not.toHaveBeenCalled();
  expect(logs.error).not.toHaveBeenCalled();
});

it('a warm-up looks up an unknown key, and another one each time', async () => {
  const keyIds: string[] = [];
  const get = async (keyId: string) => void keyIds.push(keyId);
  const from = { ...settings, verifier: defineKeyVerifier({ get: get as never }) };
  await warmUpRead(response, from);
  await warmUpRead(response, from);
  expect(keyIds[0]).toMatch(/^[0-9A-Za-z]{10}$/);
  expect(new Set(keyIds).size).toBe(2);
});

it('a warm-up sends a complete streamed response to nobody', async () => {
  defineAwslambda();
  const { awslambda } = globalThis as unknown as {
    awslambda: { HttpResponseStream: { from(stream: Writable, prelude: object): Writable } };
  };
  // Like Lambda's own.
  const from = vi.spyOn(awslambda.HttpResponseStream, 'from').mockImplementation((stream) => {
    (stream as Writable & { setContentType(type: string): void }).setContentType('x');
    return stream;
  });
  const handler = defineStreamedHandler(listInventory, settings, async () => ({
    pages: (async function* () {
      yield { items: Buffer.from('1'), isLast: true };
    })(),
  }));
  await defineWarmUp(listInventory, handler)();
  expect(from).toHaveBeenCalledOnce();
  expect(from.mock.results[0]?.value.writableFinished).toBe(true);
  expect(logs.error).not.toHaveBeenCalled();
});

it.each([
  ['the store fails', () => warmUpRead(() => Promise.reject(new StoreUnavailable(new Error('x'))))],
  ['the code throws', () => warmUpRead(() => Promise.reject(new TypeError('of undefined')))],
  ['no response comes', () => warmUpRead(() => new Promise<never>(() => {}))],
  ['the handler fails', defineWarmUp(getInventoryEntry, () => Promise.reject(new Error('broken')))],
])('a warm-up logs one error and ends within two seconds if %s', async (_, warmUp) => {
  const milliseconds = await onFastClock(async () => {
    const started = performance.now();
    await warmUp();
    return performance.now() - started;
  });
  expect(milliseconds).toBeLessThan(2_000);
  const line = { requestId: 'warm-up', error: expect.anything() };
  expect(logs.error).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(line));
  expect(logs.info).not.toHaveBeenCalled();
});

it('a warm-up leaves neither its deadline nor its meter to later requests', async () => {
  const units = meterRequest();
  vi.useFakeTimers({ toFake: ['Date'] });
  await warmUpRead(async () => {
    countUnits('read', 5);
    return { body: {} };
  });
  vi.advanceTimersByTime(60_000);
  expect(isOverdue()).toBe(false);
  vi.useRealTimers();
  countUnits('read', 1);
  expect(units.read).toBe(1);
});

it('no client can request a warm-up: without a valid key it gets 401 and a log line', async () => {
  const forged = JSON.parse(`{
    "warm-up": true, "Symbol(warm-up)": true, "isWarmUp": true, "internal": {"isWarmUp": true},
    "__proto__": {"isWarmUp": true}, "requestId": "warm-up"
  }`);
  const handler = defineHandler(getInventoryEntry, settings, () => expect.fail('responded'));
  const sent = { headers: { Authorization: [] }, event: forged };
  const response = await call(handler, { ...sent, context: { awsRequestId: 'warm-up' } });
  expect(response.statusCode).toBe(401);
  expect(logs.info).toHaveBeenCalledOnce();
});
