import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLocalTarget } from '../localTarget.ts';
import type { ConformanceTarget } from '../target.ts';
import { smoke } from './smokeRun.ts';

describe('an empty stage', () => {
  let target: ConformanceTarget;
  beforeAll(async () => {
    target = await openLocalTarget({ data: { inventory: [], pets: [], orders: [] } });
  });
  afterAll(() => target?.close());

  it.each(['apiKey', 'readOnlyApiKey'] as const)(
    'passes with its %s, and what needs an entry is skipped',
    async (key) => {
      const run = await smoke({ baseUrl: target.baseUrl, apiKey: target[key], isVerbose: true });
      expect(run.failures).toEqual([]);
      expect(run.passed).toBe(true);
      expect(run.text).toContain('skipped: no entry  getPet: ');
      expect(run.text).toContain('skipped: no order  listOrders: ');
      expect(run.text).toContain('passed   the whole list: is whole');
    },
  );

  it('fails for want of the entry that is to be written', async () => {
    const { baseUrl, apiKey } = target;
    const run = await smoke({ baseUrl, apiKey, entry: '7' });
    expect(run.failures).toHaveLength(1);
    expect(run.failures[0]).toMatch(
      /--entry .* answered 200 \[\] .*; expected the entry 7 with its etag\.$/,
    );
  });
});
