import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exactFetch } from '../../support/exactFetch.ts';
import { fixtures } from '../fixtures.ts';
import { openLocalTarget } from '../localTarget.ts';
import type { ConformanceTarget } from '../target.ts';
import { type Front, startFront } from './front.ts';
import { defineHastyClock } from './hastyClock.ts';
import { smoke } from './smokeRun.ts';

const entry = '9007199254740993';

describe('a stage with nine entries', () => {
  const clock = defineHastyClock();
  let target: ConformanceTarget;
  let front: Front;

  beforeAll(async () => {
    const inventory = fixtures.inventory.slice(0, 9);
    target = await openLocalTarget({ data: { ...fixtures, inventory } });
    front = await startFront(target.baseUrl, clock);
  });

  beforeEach(() => {
    front.exchanges.length = 0;
    front.isLimited = false;
  });

  afterAll(async () => {
    front?.close();
    await target?.close();
  });

  const wholeLists = () => front.exchanges.filter((one) => one === 'GET /inventory 200');
  const updates = () => front.exchanges.filter((one) => /^PATCH .* 200$/.test(one));

  async function list(path: string): Promise<string> {
    const headers = { Authorization: `Bearer ${target.apiKey}` };
    return (await exactFetch(`${target.baseUrl}${path}`, { headers })).text;
  }

  it.each(['apiKey', 'readOnlyApiKey'] as const)(
    'passes with its %s by few requests and one whole list, and nothing changes',
    async (key) => {
      const before = await list('/inventory?include=etag');
      const run = await smoke({ baseUrl: front.baseUrl, apiKey: target[key] });
      expect(run.failures).toEqual([]);
      expect(run.passed).toBe(true);
      expect(front.exchanges.length).toBeLessThan(90);
      expect(run.text).toContain(`; ${front.exchanges.length} requests in `);
      expect(wholeLists()).toHaveLength(1);
      expect(updates()).toEqual([]);
      expect(await list('/inventory?include=etag')).toBe(before);
    },
  );

  it('passes with --light without a whole list', async () => {
    const { baseUrl } = front;
    const run = await smoke({ baseUrl, apiKey: target.apiKey, isLight: true });
    expect(run.passed).toBe(true);
    expect(run.text).toContain('the whole list: 4 skipped: --light');
    expect(wholeLists()).toEqual([]);
  });

  it('passes with --entry, whose count is as before and whose tag is another', async () => {
    const path = `/inventory?petId=${entry}&include=etag`;
    const [before] = JSON.parse(await list(path));
    const run = await smoke({ baseUrl: front.baseUrl, apiKey: target.apiKey, entry });
    expect(run.failures).toEqual([]);
    expect(updates()).toEqual([`PATCH /inventory/${entry} 200`]);
    const [after] = JSON.parse(await list(path));
    expect(after).toEqual({ ...before, etag: after.etag });
    expect(after.etag).not.toBe(before.etag);
  });

  it('writes nothing with a read key, and says why', async () => {
    const { baseUrl } = front;
    const run = await smoke({ baseUrl, apiKey: target.readOnlyApiKey, entry });
    expect(run.failures).toEqual([expect.stringContaining('--entry takes a key with write')]);
    expect(updates()).toEqual([]);
  });

  it('passes when staging limits its requests, by few of them more', async () => {
    front.isLimited = true;
    const run = await smoke({ baseUrl: front.baseUrl, apiKey: target.apiKey, clock });
    expect(run.failures).toEqual([]);
    expect(front.exchanges.filter((one) => one.endsWith(' 429'))).not.toEqual([]);
    expect(front.exchanges.length).toBeLessThanOrEqual(100);
    expect(wholeLists()).toHaveLength(1);
  });

  it('stops after a hundred requests, when it is limited again and again', async () => {
    const { baseUrl } = front;
    front.fault = {
      answer(_, answer) {
        answer.status = 429;
        answer.headers['retry-after'] = '0';
      },
    };
    const run = await smoke({ baseUrl, apiKey: target.apiKey });
    front.fault = {};
    expect(run.failures).toEqual([expect.stringContaining('of which 100 were answered 429')]);
    expect(run.text).toMatch(/^0 rows passed, 1 failed, /m);
    expect(front.exchanges).toHaveLength(100);
  });
});
