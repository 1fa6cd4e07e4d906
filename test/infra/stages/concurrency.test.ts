import { describe, expect, it } from 'vitest';
import { findReservedConcurrency } from '../../../infra/stages/concurrency.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { fixtures } from '../../support/stageFixtures.ts';

const { settings } = fixtures.production;

const reserve = (changed: Partial<StageSettings>, id: OperationId = 'listInventory') =>
  findReservedConcurrency({ ...settings, ...changed }, id);

describe('of the account’s concurrency', () => {
  it.each([
    // Unknown, or that of a new account: any reservation fails the deployment.
    [{}, undefined],
    [{ accountConcurrency: 10 }, undefined],
    [{ accountConcurrency: 123 }, undefined],
    [{ accountConcurrency: 124 }, 24],
    [{ accountConcurrency: 1000 }, 200],
    [{ accountConcurrency: 1000, reservedConcurrency: { updateInventory: 700 } }, 200],
    [{ accountConcurrency: 1000, reservedConcurrency: { updateInventory: 701 } }, undefined],
    [{ accountConcurrency: 1000, reservedConcurrency: { listInventory: 7 } }, 7],
    [{ reservedConcurrency: { listInventory: 0 } }, 0],
  ] satisfies [Partial<StageSettings>, unknown][])(
    'with %j, lists may take %s',
    (changed, reserved) => expect(reserve(changed)).toBe(reserved),
  );

  it('nothing is reserved for quick operations, unless the settings say so', () => {
    expect(reserve({ accountConcurrency: 1000 }, 'updateInventory')).toBeUndefined();
    expect(reserve({ reservedConcurrency: { updateInventory: 0 } }, 'updateInventory')).toBe(0);
  });
});
