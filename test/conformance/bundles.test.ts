import { createRequire } from 'node:module';
import type { OperationId } from '../../shared/contract/operations.ts';
import { synthesizeBundles } from '../support/synthesizedAssembly.ts';
import { describeConformance } from './conformance.ts';
import { openLocalTarget } from './localTarget.ts';

describeConformance('the bundles that are deployed', async () => {
  const bundles = await synthesizeBundles();
  return openLocalTarget({
    loadHandler: async (operationId: OperationId) =>
      createRequire(bundles[operationId])(bundles[operationId]).handler,
  });
});
