import { describe, expect, test } from 'vitest';
import { readFixedUnits } from '../../../infra/costs/model/fixedCosts.ts';
import { fixedUnitsOf, toSettingMoves } from '../../../infra/costs/page/settingMoves.ts';
import { defaultPrices } from '../../../infra/costs/prices/priceTables.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { synthesizeProduction } from '../../support/stackTemplates.ts';
import { countFixedUnits } from './countFixedUnits.ts';

const traffic = {
  entries: 1_000,
  shares: [{ operationId: 'getPet', answer: '200', requests: 2_000_000 }],
} as const;
const moves = toSettingMoves(defaultPrices, traffic);

describe('what another value of a setting moves', () => {
  test('is told the most first', () => {
    const dollars = moves.map(({ month }) => Math.abs(month));
    expect(dollars).toEqual(dollars.toSorted((one, other) => other - one));
  });

  test.each([
    // 99 % more of 2 million traces, at $5 a million.
    ['tracing', 9.9],
    // $5 and three rules at $1 a month, and 2 million requests at $0.60 a million.
    ['firewall', 9.2],
    // 57 of 74 alarm metrics at $0.10 and their topic's key at $1.
    ['raisesAlarms', -6.8],
    // 0.5 GB more for 10 ms of 2 million calls, at $0.0000133334 a GB-second.
    ['memoryMegabytes', 0.133_334],
    ['throttles', 0],
  ])('in a month by %s is worked out by hand: $%d', (setting, dollars) => {
    const move = moves.find((one) => one.setting === setting);
    expect(move?.month).toBeCloseTo(dollars, 6);
  });

  test('in the worst month is moved by how many lists there may be', () => {
    const move = moves.find(({ setting }) => setting === 'throttles');
    expect(move?.worstMonth).toBeGreaterThan(5_000);
  });
});

test.each([
  ['firewall', { firewall: true, worstMonthDollars: 100_000 }],
  ['noAlarms', { raisesAlarms: false }],
] as const)('what is billed by the month is counted in the stacks: %s', (name, changes) => {
  const settings = { ...stages.production.settings, ...changes };
  const counted = countFixedUnits(synthesizeProduction(changes), settings);
  expect(counted).toEqual({ ...readFixedUnits().production, ...fixedUnitsOf[name] });
});
