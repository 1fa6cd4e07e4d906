import { STORED_BYTES_OF_AN_ENTRY, toFixedDollars } from '../model/fixedCosts.ts';
import type { ModelInput, ModelledUsage } from './modelledUsage.ts';

/** What is billed by the month, by usage types. */
export function toFixedUsage({ prices, traffic, fixed, months }: ModelInput): ModelledUsage[] {
  const dollars = toFixedDollars(fixed, prices, traffic.entries);
  const stored = (traffic.entries * STORED_BYTES_OF_AN_ENTRY) / 2 ** 30;
  const backedUp = fixed.isBackedUp ? stored : 0;
  const rows: (readonly [string, RegExp, string, number, number])[] = [
    ['CW:AlarmMonitorUsage', /cloudwatch/i, 'alarm metrics', fixed.alarmMetrics, dollars.alarms],
    ['CW:MetricMonitorUsage', /cloudwatch/i, 'metrics', fixed.customMetrics, dollars.metrics],
    ['KMS-Keys', /kms|key management/i, 'keys', fixed.encryptionKeys, dollars.encryptionKeys],
    [
      'TimedStorage-ByteHrs',
      /dynamodb/i,
      'GB-months',
      stored,
      stored * prices.dynamoDbPerStoredGigabyte,
    ],
    [
      'TimedPITRStorage-ByteHrs',
      /dynamodb/i,
      'GB-months',
      backedUp,
      backedUp * prices.dynamoDbPerBackedUpGigabyte,
    ],
    ['WebACLV2', /waf/i, 'web ACLs', fixed.firewallRules > 0 ? 1 : 0, prices.firewallPerMonth],
    [
      'RuleV2',
      /waf/i,
      'rules',
      fixed.firewallRules,
      fixed.firewallRules * prices.firewallRulePerMonth,
    ],
  ];
  return rows.map(([usageType, service, unit, quantity, price]) => ({
    usageType,
    service,
    unit,
    quantity: quantity * months,
    dollars: price * months,
  }));
}
