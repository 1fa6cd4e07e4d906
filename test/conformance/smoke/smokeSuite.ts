import { beforeEach, inject } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { describeConformance } from '../conformance.ts';
import { openSmokeTarget } from './smokeTarget.ts';
import './smokeSettings.ts';

// What the stage holds decides which rows there are, so it is opened before they are named.
const target = await openSmokeTarget(inject('smoke'));

// On a stage that is in use the stock may have changed since it was read: what failed is read anew.
beforeEach(async ({ task }) => {
  if ((task.result?.retryCount ?? 0) > 0) await target.refresh();
});

describeConformance('smoke', async () => target, {
  writes: false,
  permissions: [target.permission],
  answering: operationIds.filter((id) => id !== 'getPet' || target.fixtures.pets.length > 0),
});
