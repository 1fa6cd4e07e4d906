import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import { toTableCalls } from '../../stages/stages.ts';
import { tableNames } from '../../stages/tables.ts';
import type { PriceTable } from '../prices.ts';

/** What a stage has that is billed by the month, whether anybody calls it or not. Its one dashboard is free. */
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

/** What a stage's settings come to; `test/infra/costs/bills.test.ts` counts the same in its stacks. */
export function toFixedUnits(settings: StageSettings): FixedUnits {
  const { checkEveryMinutes, firewall, protectsData, raisesAlarms } = settings;
  // The days that are left of the certificate, of the first key, and until the first sunset.
  const endMetrics = deprecated.length > 0 ? 3 : 2;
  return {
    alarmMetrics: countRollbackMetrics(settings) + (raisesAlarms ? countAlarmMetrics(settings) : 0),
    // The first bytes of streamed lists.
    customMetrics: streamed.length + (checkEveryMinutes ? endMetrics : 0),
    encryptionKeys: raisesAlarms ? 1 : 0,
    checks: checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0,
    firewallRules: firewall ? 3 : 0,
    isBackedUp: protectsData,
  };
}

const deprecated = operationIds.filter((id) => operations[id].lifecycle.kind === 'deprecated');
const streamed = operationIds.filter((id) => operations[id].streamed);

/** Of each function errors, latency, and the share of a new version's calls that fail, which takes two. */
function countRollbackMetrics({ rollout }: StageSettings): number {
  return rollout === 'atOnce' ? 0 : 4 * operationIds.length + 1;
}

function countAlarmMetrics(settings: StageSettings): number {
  const { accountConcurrency, checkEveryMinutes, quietMinutes } = settings;
  const reserved = operationIds.filter((id) => (toReservedConcurrency(settings, id) ?? 0) > 0);
  const tables = tableNames.map((table) => {
    const calls = toTableCalls(table);
    // Throttled reads, and writes where there are any; then failures by the kind of call.
    return calls.length + (calls.some((call) => /^(Update|TransactWrite)/.test(call)) ? 2 : 1);
  });
  return (
    // Shares of all requests: 5xx twice, 401, 403 and 429.
    5 * 2 +
    // The share of 5xx takes two; latency, errors, duration, throttles.
    operationIds.length * 6 +
    reserved.length +
    tables.reduce((sum, count) => sum + count, 0) +
    // Transactions that met.
    1 +
    (quietMinutes === undefined ? 0 : 1) +
    (accountConcurrency === undefined ? 0 : 1) +
    (checkEveryMinutes ? countCheckMetrics() : 0)
  );
}

/** The check itself, two ends with two alarms each, and the callers of what will be gone. */
function countCheckMetrics(): number {
  return 1 + 2 * 2 + (deprecated.length > 0 ? 1 + deprecated.length : 0);
}

/** An entry that was updated once, and the 100 bytes that DynamoDB bills with every item it stores. */
export const STORED_BYTES_OF_AN_ENTRY = 124;
/** A check takes about a second, with 256 MB. */
export const GIGABYTE_SECONDS_OF_A_CHECK = 0.25;

export type FixedDollars = ReturnType<typeof toFixedDollars>;

/**
 * By what it is for, in dollars a month.
 * @param entries the length of the inventory, which takes most of the tables' room
 */
export function toFixedDollars(units: FixedUnits, prices: PriceTable, entries: number) {
  const { checks, firewallRules, isBackedUp } = units;
  const stored = (entries * STORED_BYTES_OF_AN_ENTRY) / 2 ** 30;
  const backups = isBackedUp ? prices.dynamoDbPerBackedUpGigabyte : 0;
  const perCheck =
    prices.lambdaPerMillionRequests / 1e6 +
    GIGABYTE_SECONDS_OF_A_CHECK * prices.lambdaPerGigabyteSecond;
  const firewall = prices.firewallPerMonth + firewallRules * prices.firewallRulePerMonth;
  return {
    alarms: units.alarmMetrics * prices.alarmMetricPerMonth,
    metrics: units.customMetrics * prices.customMetricPerMonth,
    encryptionKeys: units.encryptionKeys * prices.encryptionKeyPerMonth,
    checks: checks * perCheck,
    firewall: firewallRules === 0 ? 0 : firewall,
    /** Of the tables, their backups included. */
    storage: stored * (prices.dynamoDbPerStoredGigabyte + backups),
  };
}

/** What of the fixed part is a cent or more, in words. */
export function listFixedParts(parts: FixedDollars): [name: string, dollars: number][] {
  return Object.entries(parts)
    .filter(([, dollars]) => dollars >= 0.005)
    .map(([name, dollars]) => [name === 'encryptionKeys' ? 'encryption key' : name, dollars]);
}
