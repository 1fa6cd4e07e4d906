import { toFixedUsage } from '../../costs/bills/fixedCosts.ts';
import { toRequestsBill, toStagePricing } from '../../costs/bills/monthlyBill.ts';
import { sumRequests, type Traffic } from '../../costs/bills/traffic.ts';
import { usageKinds } from '../../costs/bills/usage.ts';
import type { UsageKind } from '../../costs/prices.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';

interface UsageType {
  /** As AWS names it, without the region. */
  readonly usageType: string;
  /** Whose usage type it is, since several services have one of the same name. */
  readonly service: RegExp;
  readonly unit: string;
  /** Others that AWS bills the same by. */
  readonly alsoNamed?: RegExp;
}

/** What the model says of one usage type. */
export interface ExpectedUsage extends UsageType {
  /** False where AWS gives no tags, so that the lines are of the whole account. */
  readonly isTagged: boolean;
  readonly quantity: number;
  readonly dollars: number;
}

const [apiGateway, lambda, dynamoDb] = [/api ?gateway/i, /lambda/i, /dynamodb/i];
const [cloudWatch, firewall, keys] = [/cloudwatch/i, /waf/i, /kms|key management/i];

/** What AWS calls the units of the model. */
const usageTypes: Readonly<Record<UsageKind, UsageType>> = {
  gatewayRequests: { usageType: 'ApiGatewayRequest', service: apiGateway, unit: 'requests' },
  functionCalls: { usageType: 'Request-ARM', service: lambda, unit: 'requests' },
  gigabyteSeconds: { usageType: 'Lambda-GB-Second-ARM', service: lambda, unit: 'GB-seconds' },
  streamedGigabytes: {
    ...{ usageType: 'streamed bytes', service: lambda, unit: 'GB' },
    alsoNamed: /stream/i,
  },
  readUnits: { usageType: 'ReadRequestUnits', service: dynamoDb, unit: 'units' },
  writeUnits: { usageType: 'WriteRequestUnits', service: dynamoDb, unit: 'units' },
  // Of whichever service the bytes left.
  sentGigabytes: { usageType: 'DataTransfer-Out-Bytes', service: /./, unit: 'GB' },
  loggedGigabytes: {
    ...{ usageType: 'DataProcessing-Bytes', service: cloudWatch, unit: 'GB' },
    // Lambda's logs are billed as those that AWS itself writes.
    alsoNamed: /^VendedLog-Bytes$/,
  },
  traces: { usageType: 'XRay-TracesStored', service: /x-?ray/i, unit: 'traces' },
  firewallRequests: { usageType: 'RequestV2-Tier1', service: firewall, unit: 'requests' },
  alarmMetrics: {
    usageType: 'CW:AlarmMonitorUsage',
    service: cloudWatch,
    unit: 'alarm metrics',
  },
  customMetrics: { usageType: 'CW:MetricMonitorUsage', service: cloudWatch, unit: 'metrics' },
  encryptionKeys: { usageType: 'KMS-Keys', service: keys, unit: 'keys' },
  storedGigabytes: { usageType: 'TimedStorage-ByteHrs', service: dynamoDb, unit: 'GB-months' },
  backedUpGigabytes: {
    usageType: 'TimedPITRStorage-ByteHrs',
    service: dynamoDb,
    unit: 'GB-months',
  },
  firewalls: { usageType: 'WebACLV2', service: firewall, unit: 'web ACLs' },
  firewallRules: { usageType: 'RuleV2', service: firewall, unit: 'rules' },
};

/**
 * A month's bill by usage types, as the model has it: quantities beside dollars, so that an error of the one is
 * told from an error of the other. Types of which there is nothing are left out.
 */
export function toExpectedUsage(settings: StageSettings, traffic: Traffic): ExpectedUsage[] {
  const pricing = toStagePricing(settings, sumRequests(traffic));
  const { usage, rates } = toRequestsBill(traffic, pricing);
  const fixed = toFixedUsage(settings, traffic.entries);
  return usageKinds.flatMap((kind) => {
    const quantity = usage[kind] + (fixed[kind] ?? 0);
    const dollars = quantity * rates[kind];
    // Of CloudWatch, alarms have tags, and metrics have none:
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_TagResource.html
    const isTagged = kind !== 'traces' && kind !== 'customMetrics';
    return quantity > 0 ? [{ ...usageTypes[kind], isTagged, quantity, dollars }] : [];
  });
}
