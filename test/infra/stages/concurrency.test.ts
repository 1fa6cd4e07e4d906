import { describe, expect, it } from 'vitest';
import { toReservedConcurrency } from '../../../infra/stages/concurrency.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { fixtures } from '../../support/stageFixtures.ts';

const { settings } = fixtures.production;

function reserve(changed: Partial<StageSettings>) {
  return (id: 'listInventory' | 'getPet') => toReservedConcurrency({ ...settings, ...changed }, id);
}

describe('of the account’s concurrency', () => {
  it.each([
    // Nothing is known of it, or it is a new account’s: whatever is reserved fails the deployment.
    [{}, undefined],
    [{ accountConcurrency: 10 }, undefined],
    [{ accountConcurrency: 123 }, undefined],
    [{ accountConcurrency: 124 }, 24],
    [{ accountConcurrency: 1000 }, 200],
    [{ accountConcurrency: 1000, reservedConcurrency: { getPet: 700 } }, 200],
    [{ accountConcurrency: 1000, reservedConcurrency: { getPet: 701 } }, undefined],
    [{ accountConcurrency: 1000, reservedConcurrency: { listInventory: 7 } }, 7],
    [{ reservedConcurrency: { listInventory: 0 } }, 0],
  ] satisfies [Partial<StageSettings>, number | undefined][])(
    'with %j, lists may take %s',
    (changed, reserved) => {
      expect(reserve(changed)('listInventory')).toBe(reserved);
    },
  );

  it('nothing is reserved for what answers at once, unless it is told to be', () => {
    expect(reserve({ accountConcurrency: 1000 })('getPet')).toBeUndefined();
    expect(reserve({ reservedConcurrency: { getPet: 0 } })('getPet')).toBe(0);
  });
});

it('keeps lists that nobody waits for from taking every call of the account, by its rate alone', () => {
  const longestSeconds = 29;
  for (const { settings } of Object.values(stages)) {
    const { rate } = settings.throttles.listInventory;
    expect(rate * longestSeconds).toBeLessThan(1_000 / 3);
  }
});
