import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { writeBundle } from '../support/bundles.ts';
import { describeConformance } from './conformance.ts';
import { openLocalTarget } from './localTarget.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-bundles-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeConformance('the bundles that are deployed', () =>
  openLocalTarget({
    async loadHandler(operationId) {
      const path = await writeBundle(operationId, join(folder, operationId));
      return import(/* @vite-ignore */ pathToFileURL(path).href);
    },
  }),
);
