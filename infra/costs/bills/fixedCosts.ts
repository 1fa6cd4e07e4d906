import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import { toTableCalls } from '../../stages/stages.ts';
import { tableNames } from '../../stages/tables.ts';
import { type RecordSizes, toRecordBytes, usualSizes } from '../units/sizes.ts';
import { GIGABYTE, type Usage } from './usage.ts';

/** What DynamoDB bills with every item that it stores. */
const BYTES_OF_AN_ITEM = 100;
/** CloudWatch bills kept logs compressed; its calculator (https://calculator.aws) takes that for 15 %. */
const COMPRESSED_SHARE = 0.15;
/** Of 730 hours. */
const DAYS_A_MONTH = 730 / 24;
/** A check takes about a second, with 256 MB. */
const GIGABYTE_SECONDS_OF_A_CHECK = 0.25;

/**
 * What a stage uses in a month, whether anybody calls it or not. Its one dashboard is free.
 * `test/infra/costs/bills.test.ts` counts the same in its stacks.
 * @param entries the length of the inventory, which takes most of the tables' room
 * @param loggedGigabytes what each month adds to the logs: all that were not yet deleted are kept
 */
export function toFixedUsage(
  settings: StageSettings,
  entries: number,
  sizes: RecordSizes = usualSizes,
  loggedGigabytes = 0,
): Usage {
  const { checkEveryMinutes, firewall, logRetentionDays, protectsData, raisesAlarms } = settings;
  const checks = checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0;
  // The days that are left of the certificate, of the first key, and until the first sunset.
  const endMetrics = deprecated.length > 0 ? 3 : 2;
  const storedGigabytes = (entries * (toRecordBytes(sizes) + BYTES_OF_AN_ITEM)) / GIGABYTE;
  return {
    alarmMetrics: countRollbackMetrics(settings) + (raisesAlarms ? countAlarmMetrics(settings) : 0),
    // The first bytes of streamed lists. Those that only count errors cost nothing without them.
    customMetrics: streamed.length + (checkEveryMinutes ? endMetrics : 0),
    encryptionKeys: raisesAlarms ? 1 : 0,
    functionCalls: checks,
    gigabyteSeconds: checks * GIGABYTE_SECONDS_OF_A_CHECK,
    firewalls: firewall ? 1 : 0,
    firewallRules: firewall ? 3 : 0,
    storedLogGigabytes: (loggedGigabytes * COMPRESSED_SHARE * logRetentionDays) / DAYS_A_MONTH,
    storedGigabytes,
    backedUpGigabytes: protectsData ? storedGigabytes : 0,
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
