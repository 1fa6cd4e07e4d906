import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { defineThrottling, injectFault } from '../../../infra/local/gateway/faultInjection.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { documentationAddress, keepGatewayLogs, startTestGateway } from './testGateway.ts';

const logs = keepGatewayLogs();

test('an injected failure is drawn by its share', async () => {
  using draw = vi.spyOn(Math, 'random');
  const failures = [
    { status: 503, share: 0.1 },
    { status: 429, share: 0.2 },
  ];
  const drawn = [0, 0.0999, 0.1001, 0.2999, 0.3001, 0.9999].map((value) => {
    draw.mockReturnValueOnce(value);
    return injectFault({ failures }, operations.getInventoryEntry, documentationAddress);
  });
  const codes = (await Promise.all(drawn)).map((fault) => fault?.code);
  const [first, second] = ['service_unavailable', 'too_many_requests'];
  expect(codes).toEqual([first, first, second, second, undefined, undefined]);
});

test('a request is delayed before its function is called', async () => {
  const started = performance.now();
  await injectFault({ delayMilliseconds: 30 }, operations.getInventoryEntry, documentationAddress);
  expect(performance.now() - started).toBeGreaterThan(25);
});

test.each(['updateInventory', 'listInventory'] as const)(
  'loses the response of %s after it took effect, as a closed connection',
  async (operationId) => {
    let calls = 0;
    async function updateInventory() {
      calls++;
      return { statusCode: 200, body: '{}' };
    }
    async function listInventory(_: unknown, stream: Writable) {
      calls++;
      const response = awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
      await finished(response.end('[]'));
    }
    const functions = { updateInventory, listInventory };
    const lossy = await startTestGateway(functions, 1_000, { lostShare: 1 });
    const { method, path } = operations[operationId];
    const lost = exactFetch(lossy.baseUrl + path, { method });
    await expect(lost).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(calls).toBe(1);
    const requestId = expect.any(String);
    expect(logs.info.mock.calls).toEqual([[{ requestId, message: 'This response is lost.' }]]);
    expect((await exactFetch(`${lossy.baseUrl}/nothing`)).status).toBe(404);
    await lossy.drain();
    expect(logs.error).not.toHaveBeenCalled();
  },
);

test('refuses what exceeds the burst of an operation, and lets others through', async () => {
  const { throttles } = stages.production.settings;
  const respond = vi.fn(async () => ({ statusCode: 200, body: '{}' }));
  const { baseUrl, drain } = await startTestGateway(
    { getInventoryEntry: respond, updateInventory: respond },
    1_000,
    {
      throttles: {
        ...throttles,
        getInventoryEntry: { rate: 0.1, burst: 2 },
        other: { rate: 0.1, burst: 3 },
      },
    },
  );
  for (const [line, status] of [
    ['GET /inventory/1', 200],
    ['GET /inventory/1', 200],
    ['GET /inventory/1', 429],
    ['GET /nothing', 404],
    ['DELETE /inventory/1', 405],
    ['OPTIONS /inventory/1', 204],
    ['GET /nothing', 429],
    ['PATCH /inventory/1', 200],
  ] as const) {
    const [method = '', path] = line.split(' ');
    expect((await exactFetch(`${baseUrl}${path}`, { method })).status, line).toBe(status);
  }
  expect(respond).toHaveBeenCalledTimes(3);
  await drain();
});

test('fills the bucket at the rate, up to the burst', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const isThrottled = defineThrottling(stages.production.settings.throttles);
  const countPassed = (milliseconds: number) => {
    vi.advanceTimersByTime(milliseconds);
    let count = 0;
    while (!isThrottled('listInventory')) count++;
    return count;
  };
  expect([0, 199, 2, 1_000, 3_600_000].map(countPassed)).toEqual([20, 0, 1, 5, 20]);
  expect(isThrottled('updateInventory')).toBe(false);
});
