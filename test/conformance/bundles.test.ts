import { pathToFileURL } from 'node:url';
import { writeBundle } from '../support/bundles.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';
import { describeConformance } from './conformance.ts';
import { openLocalTarget } from './localTarget.ts';

const { toPath } = openTemporaryFolder();

describeConformance('the bundles that are deployed', () =>
  openLocalTarget({
    async loadModule(operationId) {
      const path = await writeBundle(operationId, toPath(operationId));
      return import(/* @vite-ignore */ pathToFileURL(path).href);
    },
  }),
);
