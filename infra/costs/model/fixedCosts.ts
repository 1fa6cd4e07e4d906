import { readFileSync } from 'node:fs';
import type { StageName } from '../../stages/stages.ts';
import type { PriceTable } from '../prices/priceTable.ts';

/** What a stage has that is billed by the month, whether anybody calls it or not. */
export interface FixedUnits {
  /** An alarm is billed for each metric that it looks at. */
  readonly alarmMetrics: number;
  /** Those that have a value in every hour; one that only counts errors costs nothing without them. */
  readonly customMetrics: number;
  readonly encryptionKeys: number;
  /** How often a month the scheduled check calls the stage. */
  readonly checks: number;
  readonly firewallRules: number;
  readonly isBackedUp: boolean;
}

/** Where `test/infra/costs/fixedUnits.test.ts` writes down what it counted in the stacks. */
export const fixedUnitsFile = new URL('fixedUnits.json', import.meta.url);

export function readFixedUnits(): Readonly<Record<StageName, FixedUnits>> {
  return JSON.parse(readFileSync(fixedUnitsFile, 'utf8'));
}

/** By what it is for, in dollars a month. */
export interface FixedDollars {
  readonly alarms: number;
  readonly metrics: number;
  readonly encryptionKeys: number;
  readonly checks: number;
  readonly firewall: number;
  /** Of the tables, their backups included. */
  readonly storage: number;
}

/** An entry that was updated once, and the 100 bytes that DynamoDB bills with every item it stores. */
export const STORED_BYTES_OF_AN_ENTRY = 124;
/** A check takes about a second, with 256 MB. */
export const GIGABYTE_SECONDS_OF_A_CHECK = 0.25;

/** @param entries the length of the inventory, which takes most of the tables' room */
export function toFixedDollars(
  units: FixedUnits,
  prices: PriceTable,
  entries: number,
): FixedDollars {
  const { firewallRules } = units;
  const stored = (entries * STORED_BYTES_OF_AN_ENTRY) / 2 ** 30;
  const perGigabyte =
    prices.dynamoDbPerStoredGigabyte + (units.isBackedUp ? prices.dynamoDbPerBackedUpGigabyte : 0);
  return {
    alarms: units.alarmMetrics * prices.alarmMetricPerMonth,
    metrics: units.customMetrics * prices.customMetricPerMonth,
    encryptionKeys: units.encryptionKeys * prices.encryptionKeyPerMonth,
    checks:
      units.checks *
      (prices.lambdaPerMillionRequests / 1e6 +
        GIGABYTE_SECONDS_OF_A_CHECK * prices.lambdaPerGigabyteSecond),
    firewall:
      firewallRules === 0
        ? 0
        : prices.firewallPerMonth + firewallRules * prices.firewallRulePerMonth,
    storage: stored * perGigabyte,
  };
}

export function sumFixedDollars(dollars: FixedDollars): number {
  return Object.values(dollars).reduce((sum, each) => sum + each, 0);
}
