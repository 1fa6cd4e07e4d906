import { expect } from 'vitest';
import { defineRuntimes } from '../support/lambda/runtimes.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';
import { describeConformance } from './conformance.ts';
import { openLocalTarget } from './localTarget.ts';

const { toPath } = openTemporaryFolder();

describeConformance(
  'the bundles that are deployed, under the runtime client of Lambda',
  async () => {
    const { load, started, close } = defineRuntimes(toPath);
    const target = await openLocalTarget({ loadModule: load });
    return {
      ...target,
      async close() {
        await target.close();
        // A line that is no JSON is in no metric and found by no query.
        for (const { lines, strayLines } of started.values()) {
          expect(lines.length).toBeGreaterThan(0);
          for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
          expect(strayLines).toEqual([]);
        }
        await close();
      },
    };
  },
  false,
);
