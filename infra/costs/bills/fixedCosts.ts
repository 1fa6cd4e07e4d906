import { operationIds } from '../../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import {
  countedSettings,
  type Figures,
  type MetricCounts,
  type PricedSettings,
  readFigures,
} from '../figures.ts';
import { toRecordBytes } from '../units/sizes.ts';
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
 * A stage's fixed use in a month. An account's first three dashboards are free. `test/infra/costs/bills.test.ts` counts
 * the same in its stacks.
 * @param entries the length of the inventory, which takes up most of the tables' storage
 * @param loggedGigabytes what each month adds to the logs; they are kept until they expire
 */
export function toFixedUsage(
  settings: PricedSettings,
  entries: number,
  { metrics, sizes }: Pick<Figures, 'metrics' | 'sizes'> = readFigures(),
  loggedGigabytes = 0,
): Usage {
  const { checkEveryMinutes, firewall, logRetentionDays, protectsData, raisesAlarms } = settings;
  const checks = checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0;
  const storedGigabytes = (entries * (toRecordBytes(sizes) + BYTES_OF_AN_ITEM)) / GIGABYTE;
  return {
    ...countMetrics(settings, metrics),
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

/** The metrics that the stage's settings add, as counted in the stacks of tests. */
function countMetrics(settings: PricedSettings, metrics: MetricCounts) {
  const { accountConcurrency, checkEveryMinutes, quietMinutes, raisesAlarms, rollout } = settings;
  const reserved = operationIds.filter((id) => (toReservedConcurrency(settings, id) ?? 0) > 0);
  const times: Readonly<Record<keyof MetricCounts, number>> = {
    always: 1,
    rollout: rollout === 'atOnce' ? 0 : 1,
    raisesAlarms: raisesAlarms ? 1 : 0,
    checkEveryMinutes: checkEveryMinutes === undefined ? 0 : 1,
    quietMinutes: quietMinutes === undefined ? 0 : 1,
    // Without alarms, nothing watches them.
    reservedConcurrency: raisesAlarms ? reserved.length : 0,
    accountConcurrency: raisesAlarms && accountConcurrency !== undefined ? 1 : 0,
  };
  const sum = (kind: 'alarmMetrics' | 'customMetrics') =>
    (['always', ...countedSettings] as const).reduce(
      (total, name) => total + times[name] * metrics[name][kind],
      0,
    );
  return { alarmMetrics: sum('alarmMetrics'), customMetrics: sum('customMetrics') };
}
