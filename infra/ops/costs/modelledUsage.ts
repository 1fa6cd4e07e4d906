import {
  GIGABYTE_SECONDS_OF_A_CHECK,
  STORED_BYTES_OF_AN_ENTRY,
  toFixedDollars,
  toFixedUnits,
} from '../../costs/bills/fixedCosts.ts';
import { toRequestsBill, toStagePricing } from '../../costs/bills/monthlyBill.ts';
import { sumRequests, type Traffic } from '../../costs/bills/traffic.ts';
import type { UsageKind } from '../../costs/bills/usage.ts';
import type { PriceTable } from '../../costs/prices/priceTable.ts';
import { readRecordedUnits } from '../../costs/units/recordedUnits.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';

/** What the model says of one usage type. */
export interface ModelledUsage {
  /** As AWS names it, without the region. */
  readonly usageType: string;
  /** Others that AWS bills the same by. */
  readonly alsoNamed?: RegExp;
  /** Whose usage type it is, since several services have one of the same name. */
  readonly service: RegExp;
  readonly unit: string;
  readonly quantity: number;
  readonly dollars: number;
}

type UsageType = Omit<ModelledUsage, 'quantity' | 'dollars'>;

export interface ModelInput {
  readonly settings: StageSettings;
  readonly prices: PriceTable;
  readonly traffic: Traffic;
  /** How many months the time is that was billed. */
  readonly months: number;
}

/**
 * A bill by usage types, as the model has it: quantities beside dollars, so that an error of the one is
 * told from an error of the other. Types of which there is nothing are left out.
 * @throws {TrafficError}
 */
export function toModelledUsage(input: ModelInput): ModelledUsage[] {
  return [...toRequestsUsage(input), ...toFixedUsage(input)].filter(({ quantity }) => quantity > 0);
}

const [apiGateway, lambda, dynamoDb] = [/api ?gateway/i, /lambda/i, /dynamodb/i];
const [cloudWatch, firewall] = [/cloudwatch/i, /waf/i];

/** What AWS calls the units of requests. */
const requestTypes: Readonly<Record<UsageKind, UsageType>> = {
  gatewayRequests: { usageType: 'ApiGatewayRequest', service: apiGateway, unit: 'requests' },
  readUnits: { usageType: 'ReadRequestUnits', service: dynamoDb, unit: 'units' },
  writeUnits: { usageType: 'WriteRequestUnits', service: dynamoDb, unit: 'units' },
  // Of whichever service the bytes left.
  sentGigabytes: { usageType: 'DataTransfer-Out-Bytes', service: /./, unit: 'GB' },
  loggedGigabytes: {
    usageType: 'DataProcessing-Bytes',
    // Lambda's logs are billed as those that AWS itself writes.
    alsoNamed: /^VendedLog-Bytes$/,
    service: cloudWatch,
    unit: 'GB',
  },
  traces: { usageType: 'XRay-TracesStored', service: /x-?ray/i, unit: 'traces' },
  firewallRequests: { usageType: 'RequestV2-Tier1', service: firewall, unit: 'requests' },
  functionCalls: { usageType: 'Request-ARM', service: lambda, unit: 'requests' },
  gigabyteSeconds: { usageType: 'Lambda-GB-Second-ARM', service: lambda, unit: 'GB-seconds' },
  streamedGigabytes: {
    usageType: 'streamed bytes',
    alsoNamed: /stream/i,
    service: lambda,
    unit: 'GB',
  },
};

/** Those of the scheduled check's calls are among them. */
function toRequestsUsage({ settings, prices, traffic, months }: ModelInput): ModelledUsage[] {
  const pricing = toStagePricing(settings, prices, sumRequests(traffic));
  const { usage, rates } = toRequestsBill(traffic, readRecordedUnits(), pricing);
  const checks = toFixedUnits(settings).checks * months;
  const used = {
    ...usage,
    functionCalls: usage.functionCalls + checks,
    gigabyteSeconds: usage.gigabyteSeconds + checks * GIGABYTE_SECONDS_OF_A_CHECK,
  };
  return (Object.entries(requestTypes) as [UsageKind, UsageType][]).map(([kind, type]) => ({
    ...type,
    quantity: used[kind],
    dollars: used[kind] * rates[kind],
  }));
}

/** What is billed by the month, by usage types. */
function toFixedUsage({ settings, prices, traffic, months }: ModelInput): ModelledUsage[] {
  const units = toFixedUnits(settings);
  const { firewallRules } = units;
  const dollars = toFixedDollars(units, prices, traffic.entries);
  const stored = (traffic.entries * STORED_BYTES_OF_AN_ENTRY) / 2 ** 30;
  const backedUp = units.isBackedUp ? stored : 0;
  const { dynamoDbPerStoredGigabyte, dynamoDbPerBackedUpGigabyte } = prices;
  const rows: [UsageType, quantity: number, dollars: number][] = [
    [
      { usageType: 'CW:AlarmMonitorUsage', service: cloudWatch, unit: 'alarm metrics' },
      units.alarmMetrics,
      dollars.alarms,
    ],
    [
      { usageType: 'CW:MetricMonitorUsage', service: cloudWatch, unit: 'metrics' },
      units.customMetrics,
      dollars.metrics,
    ],
    [
      { usageType: 'KMS-Keys', service: /kms|key management/i, unit: 'keys' },
      units.encryptionKeys,
      dollars.encryptionKeys,
    ],
    [
      { usageType: 'TimedStorage-ByteHrs', service: dynamoDb, unit: 'GB-months' },
      stored,
      stored * dynamoDbPerStoredGigabyte,
    ],
    [
      { usageType: 'TimedPITRStorage-ByteHrs', service: dynamoDb, unit: 'GB-months' },
      backedUp,
      backedUp * dynamoDbPerBackedUpGigabyte,
    ],
    [
      { usageType: 'WebACLV2', service: firewall, unit: 'web ACLs' },
      firewallRules > 0 ? 1 : 0,
      prices.firewallPerMonth,
    ],
    [
      { usageType: 'RuleV2', service: firewall, unit: 'rules' },
      firewallRules,
      firewallRules * prices.firewallRulePerMonth,
    ],
  ];
  return rows.map(([type, quantity, price]) => ({
    ...type,
    quantity: quantity * months,
    dollars: price * months,
  }));
}
