import { describe, expect, test } from 'vitest';
import { defaultPrices } from '../../../infra/costs/prices/priceTables.ts';
import { checkWorstMonth } from '../../../infra/costs/report/checkWorstMonth.ts';
import { toWorstMonthReport } from '../../../infra/costs/report/costReport.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stageNames, stages } from '../../../infra/stages/stages.ts';
import { synthesizeProduction } from '../../support/stackTemplates.ts';

const { settings } = stages.production;

function check(changes: Partial<StageSettings>): () => void {
  return () => checkWorstMonth({ name: 'production', settings: { ...settings, ...changes } });
}

describe('the worst month', () => {
  test.each(stageNames)('of %s is what its settings state, to within a twentieth', (name) => {
    const { inventoryEntries, worstMonthDollars } = stages[name].settings;
    const { total } = toWorstMonthReport(stages[name], defaultPrices, inventoryEntries);
    expect(total).toBeLessThanOrEqual(worstMonthDollars);
    expect(total).toBeGreaterThan(0.95 * worstMonthDollars);
  });

  test('that a higher throttle would cost is refused, with the number', () => {
    const listInventory = { rate: 50, burst: 100 };
    expect(check({ throttles: { ...settings.throttles, listInventory } })).toThrow(
      /^infra\/stages\/stages\.ts: worstMonthDollars of production must be at least \d{5}, which .*; it is 28000\.$/,
    );
  });

  test('of a longer inventory is refused too', () => {
    expect(check({ inventoryEntries: 1_000_000 })).toThrow('worstMonthDollars');
  });

  test('is bounded by concurrency as well', () => {
    const listInventory = { rate: 50, burst: 100 };
    const throttles = { ...settings.throttles, listInventory };
    const bounded = { accountConcurrency: 1_000, reservedConcurrency: { listInventory: 2 } };
    expect(check({ throttles, ...bounded })).not.toThrow();
  });

  test('stops the synthesis', () => {
    expect(() => synthesizeProduction({ worstMonthDollars: 1 })).toThrow('worstMonthDollars');
  });
});
