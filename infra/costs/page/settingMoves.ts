import type { StageSettings } from '../../stages/stageSettings.ts';
import { type Stage, stages } from '../../stages/stages.ts';
import { sumDollars } from '../model/components.ts';
import {
  type FixedUnits,
  readFixedUnits,
  sumFixedDollars,
  toFixedDollars,
} from '../model/fixedCosts.ts';
import { toRequestsBill } from '../model/monthlyBill.ts';
import { toStagePricing } from '../model/stagePricing.ts';
import { toWorstMonth } from '../model/worstMonth.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import { sumRequests, type Traffic } from '../traffic/traffic.ts';
import type { AnswerUnits } from '../units/answerUnits.ts';
import { readRecordedUnits } from '../units/recordedUnits.ts';

/** What another value of a setting does to the bill, in dollars; less where they are negative. */
export interface SettingMove {
  readonly setting: string;
  readonly change: string;
  /** At the given traffic. */
  readonly month: number;
  readonly worstMonth: number;
}

/** What production then has that is billed by the month, which `settingMoves.test.ts` counts in the stacks. */
export const fixedUnitsOf: Readonly<Record<'firewall' | 'noAlarms', Partial<FixedUnits>>> = {
  firewall: { firewallRules: 3 },
  noAlarms: { alarmMetrics: 17, encryptionKeys: 0 },
};

interface Change {
  readonly setting: keyof StageSettings;
  readonly change: string;
  readonly settings?: Partial<StageSettings>;
  readonly fixed?: Partial<FixedUnits>;
  readonly units?: (units: AnswerUnits) => AnswerUnits;
}

/** What production's settings can move, the most in a month first. */
export function toSettingMoves(prices: PriceTable, traffic: Traffic): SettingMove[] {
  const stage = stages.production;
  const toDollars = ({ settings, fixed, units = (same) => same }: Partial<Change>) => {
    const changed: Stage = { ...stage, settings: { ...stage.settings, ...settings } };
    const recorded = readRecordedUnits().map(units);
    const fixedUnits = { ...readFixedUnits()[stage.name], ...fixed };
    const pricing = toStagePricing(changed, prices, sumRequests(traffic));
    const { inventoryEntries } = stage.settings;
    return {
      month:
        sumDollars(toRequestsBill(traffic, recorded, pricing).dollars) +
        sumFixedDollars(toFixedDollars(fixedUnits, prices, traffic.entries)),
      worstMonth: toWorstMonth(changed, recorded, pricing, inventoryEntries).total,
    };
  };
  const now = toDollars({});
  return listChanges(stage)
    .map(({ setting, change, ...changed }) => {
      const then = toDollars(changed);
      return {
        setting,
        change,
        month: then.month - now.month,
        worstMonth: then.worstMonth - now.worstMonth,
      };
    })
    .sort((one, other) => Math.abs(other.month) - Math.abs(one.month));
}

function listChanges({ settings: { throttles, tracing } }: Stage): Change[] {
  const { listInventory } = throttles;
  return [
    {
      setting: 'tracing',
      change: `every request, not ${tracing.percent} %`,
      settings: { tracing: { reservedPerSecond: 0, percent: 100 } },
    },
    {
      setting: 'firewall',
      change: 'on, not off',
      settings: { firewall: true },
      fixed: fixedUnitsOf.firewall,
    },
    {
      setting: 'raisesAlarms',
      change: 'off, not on',
      fixed: fixedUnitsOf.noAlarms,
    },
    {
      setting: 'memoryMegabytes',
      change: 'twice as much, and calls as long as now',
      units: (units) => ({ ...units, memoryMegabytes: units.memoryMegabytes * 2 }),
    },
    {
      setting: 'throttles',
      change: `${2 * listInventory.rate} whole lists a second, not ${listInventory.rate}`,
      settings: {
        throttles: {
          ...throttles,
          listInventory: { ...listInventory, rate: 2 * listInventory.rate },
        },
      },
    },
  ];
}
