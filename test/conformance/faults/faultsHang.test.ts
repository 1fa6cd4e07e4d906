import { expect, test } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { expectError } from '../expectations.ts';
import { sendValid } from '../requests.ts';
import { openFaultyTarget } from './faultyTarget.ts';

/** Well before the 28 s after which the platform would end the function. */
const PATIENCE = 24_000;

test('each operation answers 503 in good time when the database never answers', async () => {
  const target = await openFaultyTarget();
  target.store.fail({ fault: 'hang' });
  const started = performance.now();
  await Promise.all(
    operationIds.map(async (operationId) => {
      const response = await sendValid(target, operationId);
      expectError(response, 'service_unavailable', operationId);
    }),
  );
  expect(performance.now() - started).toBeLessThan(PATIENCE);
  await target.close();
}, 60_000);
