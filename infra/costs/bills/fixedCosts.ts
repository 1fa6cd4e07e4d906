import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { isWrite } from '../../../shared/runtime/requestUnits.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import { toTableCalls } from '../../stages/stages.ts';
import { tableNames } from '../../stages/tables.ts';
import { type RecordSizes, toRecordBytes, usualSizes } from '../units/sizes.ts';
import { GIGABYTE, type Usage } from './usage.ts';

/** DynamoDB bills this overhead for every stored item. */
const BYTES_OF_AN_ITEM = 100;
/** CloudWatch bills stored logs compressed. Its calculator (https://calculator.aws) assumes 15 %. */
const COMPRESSED_SHARE = 0.15;
/** A month has 730 hours. */
const DAYS_A_MONTH = 730 / 24;
/** A check of all operations takes about a second with 256 MB. */
const GIGABYTE_SECONDS_OF_A_CHECK = 0.25;

/**
 * A stage's fixed use in a month. Its one dashboard is free. `test/infra/costs/bills.test.ts` counts the same in its
 * stacks.
 * @param entries the length of the inventory, which takes up most of the tables' storage
 * @param loggedGigabytes what each month adds to the logs; they are kept until they expire
 */
export function toFixedUsage(
  settings: StageSettings,
  entries: number,
  sizes: RecordSizes = usualSizes,
  loggedGigabytes = 0,
): Usage {
  const { checkEveryMinutes, firewall, logRetentionDays, protectsData, raisesAlarms } = settings;
  const checks = checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0;
  const storedGigabytes = (entries * (toRecordBytes(sizes) + BYTES_OF_AN_ITEM)) / GIGABYTE;
  return {
    alarmMetrics: countRollbackMetrics(settings) + (raisesAlarms ? countAlarmMetrics(settings) : 0),
    customMetrics: countCustomMetrics(settings),
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

/**
 * The time to the first byte of streamed lists, also per version if the rollout is gradual, and the requests to each
 * operation. Metrics of errors and of near ends cost nothing in hours without a value.
 */
function countCustomMetrics({ raisesAlarms, rollout }: StageSettings): number {
  const firstBytes = streamed.length * (rollout === 'atOnce' ? 1 : 2);
  return firstBytes + (raisesAlarms ? operationIds.length : 0);
}

/** For each function: errors, latency, and the share of a new version's failed calls, which takes two metrics. */
function countRollbackMetrics({ rollout }: StageSettings): number {
  return rollout === 'atOnce' ? 0 : 4 * operationIds.length;
}

function countAlarmMetrics(settings: StageSettings): number {
  const { accountConcurrency, checkEveryMinutes, quietMinutes } = settings;
  const reserved = operationIds.filter((id) => (toReservedConcurrency(settings, id) ?? 0) > 0);
  const tables = tableNames.map((table) => {
    const calls = toTableCalls(table);
    // Throttled reads, throttled writes if there are writes, and errors by kind of call.
    return calls.length + (calls.some(isWrite) ? 2 : 1);
  });
  return (
    // Shares of all requests: 5xx, 401, 403 and 429.
    4 * 2 +
    // The shares of 5xx in five minutes, one hour and four hours take two each. Then latency, errors and throttles.
    operationIds.length * (3 * 2 + 3) +
    // The duration of streamed lists.
    streamed.length +
    reserved.length +
    tables.reduce((sum, count) => sum + count, 0) +
    // Transaction conflicts.
    1 +
    // Silence counts the requests to each operation.
    (quietMinutes === undefined ? 0 : operationIds.length) +
    (accountConcurrency === undefined ? 0 : 1) +
    (checkEveryMinutes ? countCheckMetrics() : 0)
  );
}

/** The check itself, its 429s, surplus entries, two ends with two alarms each, and callers of deprecated operations. */
function countCheckMetrics(): number {
  return 3 + 2 * 2 + deprecated.length;
}
