import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import { isTopic, severities } from '../../stages/stageSettings.ts';
import { countedSettings, type MetricCounts, type PricedSettings } from '../figures.ts';
import { findUnits, toRecordBytes } from '../units/responseUnits.ts';
import { GIGABYTE, type RequestPricing, sumUsage, toRequestUsage, type Usage } from './usage.ts';

/** DynamoDB bills this overhead for every stored item. */
const BYTES_OF_AN_ITEM = 100;
/** CloudWatch bills stored logs compressed. Its calculator (https://calculator.aws) assumes 15 %. */
const COMPRESSED_SHARE = 0.15;
/** A month has 730 hours. */
const DAYS_A_MONTH = 730 / 24;
/**
 * A stage's fixed use in a month. An account's first three dashboards are free. `test/infra/costs/bills.test.ts` counts
 * the same in its stacks.
 * @param entries the length of the inventory, which takes up most of the tables' storage
 * @param loggedGigabytes what each month adds to the logs; they are kept until they expire
 */
export function toFixedUsage(
  settings: PricedSettings,
  entries: number,
  pricing: RequestPricing,
  loggedGigabytes = 0,
): Required<Usage> {
  const { alarms, checkEveryMinutes, firewall, logRetentionDays, protectsData, raisesAlarms } =
    settings;
  const ownsTopic = severities.some((severity) => !isTopic(alarms?.[severity]));
  const checks = checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0;
  const ofChecks = toCheckUsage(pricing, checks);
  const logged = loggedGigabytes + ofChecks.loggedGigabytes;
  const storedGigabytes = (entries * (toRecordBytes(pricing.sizes) + BYTES_OF_AN_ITEM)) / GIGABYTE;
  const others: Usage = {
    encryptionKeys: raisesAlarms && ownsTopic ? 1 : 0,
    firewalls: firewall ? 1 : 0,
    firewallRules: firewall ? 3 : 0,
    storedLogGigabytes: (logged * COMPRESSED_SHARE * logRetentionDays) / DAYS_A_MONTH,
    storedGigabytes,
    backedUpGigabytes: protectsData ? storedGigabytes : 0,
  };
  return sumUsage([...listMetrics(settings, pricing.metrics), ofChecks, others]);
}

/** A check has a list of one entry, and a write refused. Between two checks, each container forgets the key. */
function toCheckUsage(pricing: RequestPricing, checks: number): Required<Usage> {
  const calls = operationIds.flatMap((id) => {
    const response = operations[id].permission === 'write' ? '403' : '200';
    const units = findUnits(pricing, id, response, 1);
    return units ? [toRequestUsage(units, pricing, checks), { readUnits: checks }] : [];
  });
  // Its own function takes about a second with 256 MB, and reads an item of three tables and all keys.
  const own = { functionCalls: checks, gigabyteSeconds: checks / 4, readUnits: checks * 2 };
  return sumUsage([...calls, own]);
}

/** What the stage's settings add, as counted in the stacks of tests. */
function listMetrics(settings: PricedSettings, metrics: MetricCounts): Usage[] {
  const off: unknown[] = [undefined, false, 'atOnce'];
  const on = countedSettings.filter((name) => !off.includes(settings[name]));
  const reserved = operationIds.filter((id) => (toReservedConcurrency(settings, id) ?? 0) > 0);
  const counted = settings.raisesAlarms
    ? [...on.map((name) => metrics[name]), ...reserved.map(() => metrics.reservation)]
    : // Without alarms, nothing watches the rest.
      on.filter((name) => name === 'rollout').map((name) => metrics[name]);
  return [metrics.always, ...counted];
}
