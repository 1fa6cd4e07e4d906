import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listRateRules } from '../../../infra/gateway/rateRules.ts';
import {
  defineThrottling,
  type FaultInjection,
} from '../../../infra/local/gateway/faultInjection.ts';
import { defineRateRules } from '../../../infra/local/gateway/firewall.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { keepGatewayLogs, startTestGateway } from './testGateway.ts';

keepGatewayLogs();
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const { throttles } = fixtures.production.settings;
const rateRules = listRateRules(changeProduction({ firewall: true }).settings);
const mintHeader = () => ({ Authorization: `Bearer ${mintApiKey().apiKey}` });

/**
 * One client sends ten lists a second and ignores 429. Another has a key, wants one list a second, and waits as long as
 * `Retry-After` says. Both have one address.
 * @returns counts the seconds, from one on, in which the second one got its lists
 */
async function simulate(seconds: number, attack: Record<string, string>, faults: FaultInjection) {
  const listInventory = async (_: unknown, stream: NodeJS.WritableStream) => {
    awslambda.HttpResponseStream.from(stream as never, { statusCode: 200 }).end('[]');
  };
  const { baseUrl, drain } = await startTestGateway({ listInventory }, 1_000, faults);
  const polite = mintHeader();
  const list = (headers: Record<string, string>) => exactFetch(`${baseUrl}/inventory`, { headers });
  const served: number[] = [];
  let waitUntil = 0;
  for (let tick = 0; tick < 10 * seconds; tick++) {
    const second = tick / 10;
    await list(attack);
    if (tick % 10 === 5 && second >= waitUntil) {
      const response = await list(polite);
      waitUntil = second + Number(response.headers.get('Retry-After') ?? 0);
      if (response.status === 200) served.push(Math.floor(second));
    }
    vi.advanceTimersByTime(100);
  }
  await drain();
  return (from: number) => served.filter((one) => one >= from).length;
}

it.each([
  ['sends no key', 70, {}, 10],
  ['has a key', 120, mintHeader(), 90],
])(
  'while a client that ignores 429 %s, another gets its lists again',
  async (_, seconds, attack, after) => {
    const countSince = await simulate(seconds, attack, { throttles, rateRules });
    expect(countSince(after)).toBe(seconds - after);
  },
);

it('without the firewall, another gets hardly any', async () => {
  const countSince = await simulate(60, {}, { throttles });
  expect(countSince(10)).toBeLessThan(4);
});

it('a refusal has the Error body and the CORS headers, but no request id', async () => {
  const tight = listRateRules(
    changeProduction({ firewall: true, firewallRequestsPerAddress: 10 }).settings,
  );
  const { baseUrl, drain } = await startTestGateway({}, 1_000, { throttles, rateRules: tight });
  const ask = () => exactFetch(`${baseUrl}/inventory/1`, { headers: mintHeader() });
  for (let count = 0; count < 11; count++) expect((await ask()).status).toBe(501);
  vi.advanceTimersByTime(10_000);
  const { status, headers, json } = await ask();
  expect([status, json()]).toEqual([
    429,
    {
      code: 'too_many_requests',
      message: 'There are too many requests at once; try again shortly.',
      status: 429,
    },
  ]);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/json',
    'retry-after': '60',
    'access-control-allow-origin': '*',
  });
  expect(headers.has('X-Request-Id')).toBe(false);
  await drain();
});

describe('the simulated rules', () => {
  const list = { method: 'GET', operationId: 'listInventory' } as const;
  const toRequest = (sourceIp: string, headers = mintHeader()) => ({
    ...list,
    sourceIp,
    headerLines: Object.entries(headers),
  });

  function send(isRefused: ReturnType<typeof defineRateRules>, count: number, sourceIp = 'one') {
    const header = mintHeader();
    const results = Array.from({ length: count }, () => isRefused(toRequest(sourceIp, header)));
    return results.filter(Boolean).length;
  }

  it('count late: what passes until the next count is not refused', () => {
    const isRefused = defineRateRules(rateRules);
    expect(send(isRefused, 500)).toBe(0);
    vi.advanceTimersByTime(9_999);
    expect(send(isRefused, 1)).toBe(0);
    vi.advanceTimersByTime(1);
    expect(send(isRefused, 1)).toBe(1);
  });

  it('refuse until the last minute has few enough', () => {
    const isRefused = defineRateRules(rateRules);
    send(isRefused, 201);
    vi.advanceTimersByTime(59_999);
    expect(send(isRefused, 1)).toBe(1);
    vi.advanceTimersByTime(10_001);
    expect(send(isRefused, 1)).toBe(0);
    vi.advanceTimersByTime(24 * 3_600_000);
    expect(send(isRefused, 1)).toBe(0);
  });

  it('count another address, and a key at several addresses, by themselves', () => {
    const isRefused = defineRateRules(rateRules);
    const shared = mintHeader();
    for (let count = 0; count < 201; count++) isRefused(toRequest(`address ${count}`, shared));
    vi.advanceTimersByTime(10_000);
    expect(isRefused(toRequest('a new one', shared))).toBe(true);
    expect(isRefused(toRequest('a new one'))).toBe(false);
    expect(isRefused(toRequest('address 1'))).toBe(false);
  });

  it('leave a client at another address its lists half a minute after a key ignored 429', () => {
    const isRefused = defineRateRules(rateRules);
    const isThrottled = defineThrottling(throttles);
    const [attack, polite] = [mintHeader(), mintHeader()];
    const isServed = (sourceIp: string, headers: ReturnType<typeof mintHeader>) =>
      !isRefused(toRequest(sourceIp, headers)) && !isThrottled('listInventory');
    const served: number[] = [];
    for (let tick = 0; tick < 600; tick++) {
      isServed('one', attack);
      if (tick % 10 === 5 && isServed('another', polite)) served.push(tick / 10);
      vi.advanceTimersByTime(100);
    }
    expect(served.filter((second) => second >= 31)).toHaveLength(29);
  });

  it('count invented keys by their address', () => {
    const isRefused = defineRateRules(rateRules);
    for (let count = 0; count < 201; count++) isRefused(toRequest('one'));
    vi.advanceTimersByTime(10_000);
    expect(isRefused(toRequest('one'))).toBe(true);
    expect(isRefused(toRequest('another'))).toBe(false);
    // Other operations are not counted as lists.
    const other = { ...toRequest('one'), operationId: 'getInventoryEntry' } as const;
    expect(isRefused(other)).toBe(false);
  });

  it.each([
    ['no header', []],
    ['another header', [['Authorization', 'Basic cHNrOg==']]],
  ] as const)('count a request with %s as keyless, but no preflight', (_, headerLines) => {
    const isRefused = defineRateRules(rateRules);
    const preflight = {
      method: 'OPTIONS',
      operationId: undefined,
      sourceIp: 'one',
      headerLines,
    };
    const keyless = { ...preflight, method: 'GET' };
    for (let count = 0; count < 61; count++) isRefused(preflight);
    vi.advanceTimersByTime(10_000);
    expect(isRefused(preflight)).toBe(false);
    for (let count = 0; count < 61; count++) isRefused(keyless);
    vi.advanceTimersByTime(10_000);
    expect(isRefused(keyless)).toBe(true);
    expect(isRefused(preflight)).toBe(false);
  });

  it('are none on a stage without a firewall', () => {
    expect(listRateRules(fixtures.production.settings)).toEqual([]);
  });
});
