import type { Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { defineAwslambda } from '../../../infra/local/lambda/lambdaRuntime.ts';
import { StoreUnavailable } from '../../../shared/contract/errors.ts';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { updateInventory } from '../../../shared/contract/operations/updateInventory.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { defineStreamedHandler } from '../../../shared/http/defineStreamedHandler.ts';
import { defineWarmUp, MIN_ID } from '../../../shared/http/warmUp.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';
import { isOverdue } from '../../../shared/runtime/requestDeadline.ts';
import { countUnits, meterRequest } from '../../../shared/runtime/requestUnits.ts';
import { call, settings, useLogs } from './callHandler.ts';

const logs = useLogs();

describe('the warm-up of a function', () => {
  it('runs one request up to the answer, permission to write included, and logs nothing', async () => {
    const answer = vi.fn(async () => ({ body: {} }));
    const handler = defineHandler(updateInventory, settings, answer);
    await defineWarmUp(updateInventory, handler, {
      pathParameters: { petId: MIN_ID },
      headers: { 'If-None-Match': '*' },
      body: '{"quantity":0}',
    })();
    expect(answer).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        parameters: { petId: -(2n ** 63n) },
        body: { quantity: 0 },
        ifMatch: [],
      }),
    );
    expect(logs.info).not.toHaveBeenCalled();
    expect(logs.error).not.toHaveBeenCalled();
  });

  it('looks a key up that is nobody’s, and another one each time', async () => {
    const get = vi.fn(async () => undefined);
    const handler = defineHandler(
      getPet,
      { ...settings, verifier: defineKeyVerifier({ get }) },
      async () => ({ body: {} }),
    );
    const warmUp = defineWarmUp(getPet, handler, { pathParameters: { petId: MIN_ID } });
    await warmUp();
    await warmUp();
    const [[one], [other]] = get.mock.calls as unknown as [[string], [string]];
    expect(one).toMatch(/^[0-9A-Za-z]{10}$/);
    expect(other).not.toBe(one);
  });

  it('sends a streamed answer to its end, to nobody', async () => {
    defineAwslambda();
    const { awslambda } = globalThis as unknown as {
      awslambda: { HttpResponseStream: { from(stream: Writable, prelude: object): Writable } };
    };
    // As Lambda's own does.
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
    ['the store fails', () => Promise.reject(new StoreUnavailable(new Error('no route')))],
    ['something is wrong', () => Promise.reject(new TypeError('of undefined'))],
    ['nothing ever comes', () => new Promise<never>(() => {})],
  ])('logs one error and goes on, within a second or so, when %s', async (_, answer) => {
    const started = performance.now();
    const handler = defineHandler(getPet, settings, answer);
    await defineWarmUp(getPet, handler, { pathParameters: { petId: MIN_ID } })();
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(logs.error).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ requestId: 'warm-up', error: expect.anything() }),
    );
    expect(logs.info).not.toHaveBeenCalled();
  });

  it('logs one error and goes on when the handler itself fails', async () => {
    await defineWarmUp(getPet, () => Promise.reject(new Error('broken')))();
    expect(logs.error).toHaveBeenCalledOnce();
  });

  it('leaves neither its deadline nor its meter to what comes after it', async () => {
    const units = meterRequest();
    vi.useFakeTimers({ toFake: ['Date'] });
    const handler = defineHandler(getPet, settings, async () => {
      countUnits('read', 5);
      return { body: {} };
    });
    await defineWarmUp(getPet, handler, { pathParameters: { petId: MIN_ID } })();
    vi.advanceTimersByTime(60_000);
    expect(isOverdue()).toBe(false);
    vi.useRealTimers();
    countUnits('read', 1);
    expect(units.read).toBe(1);
  });
});

it('is nothing that a client can ask for: without a valid key it is answered 401, and logged', async () => {
  const answer = vi.fn(async () => ({ body: {} }));
  const handler = defineHandler(getPet, settings, answer);
  const forged = JSON.parse(`{
    "warm-up": true, "Symbol(warm-up)": true, "isWarmUp": true, "internal": {"isWarmUp": true},
    "__proto__": {"isWarmUp": true}, "requestId": "warm-up"
  }`);
  const headers = { Authorization: [] };
  const response = await call(handler, {
    headers,
    event: forged,
    context: { awsRequestId: 'warm-up' },
  });
  expect(response.statusCode).toBe(401);
  expect(answer).not.toHaveBeenCalled();
  expect(logs.info).toHaveBeenCalledOnce();
});
