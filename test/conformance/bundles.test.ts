import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { buildBundle } from '../support/bundles.ts';
import { describeConformance } from './conformance.ts';
import { openLocalTarget } from './localTarget.ts';

// Outside the checkout, whose package.json would have Node take a bundle for an ES module.
const folder = mkdtempSync(join(tmpdir(), 'petstore-bundles-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeConformance('the bundles that are deployed', () =>
  openLocalTarget({
    async loadHandler(operationId) {
      const path = join(folder, `${operationId}.js`);
      writeFileSync(path, await buildBundle(operationId));
      return createRequire(path)(path).handler;
    },
  }),
);
