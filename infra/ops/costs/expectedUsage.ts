import { toStageMonth } from '../../costs/bills/costReport.ts';
import type { Traffic } from '../../costs/bills/traffic.ts';
import type { Prices } from '../../costs/prices.ts';
import { usageKinds } from '../../costs/usageParts.ts';
import type { Stage } from '../../stages/stages.ts';

const [apiGateway, lambda, dynamoDb] = [/api ?gateway/i, /lambda/i, /dynamodb/i];
const [cloudWatch, xRay] = [/cloudwatch/i, /x-?ray/i];
const [firewall, keys] = [/waf/i, /kms|key management/i];

/**
 * AWS's names for the units of the model: the service, the usage type without its region, the unit, and other usage
 * types for the same. Several services have usage types of the same name.
 */
export const usageTypes: Readonly<
  Record<keyof Prices, readonly [RegExp, string, string, RegExp?]>
> = {
  gatewayRequests: [apiGateway, 'ApiGatewayRequest', 'requests'],
  functionCalls: [lambda, 'Request-ARM', 'requests'],
  gigabyteSeconds: [lambda, 'Lambda-GB-Second-ARM', 'GB-seconds'],
  streamedGigabytes: [lambda, 'streamed bytes', 'GB', /stream/i],
  readUnits: [dynamoDb, 'ReadRequestUnits', 'units'],
  writeUnits: [dynamoDb, 'WriteRequestUnits', 'units'],
  // Of whichever service the bytes left.
  sentGigabytes: [/./, 'DataTransfer-Out-Bytes', 'GB'],
  // Lambda's logs are billed as those that AWS itself writes.
  loggedGigabytes: [cloudWatch, 'DataProcessing-Bytes', 'GB', /^VendedLog-Bytes$/],
  storedLogGigabytes: [cloudWatch, 'kept logs', 'GB-months', /^TimedStorage-ByteHrs$/],
  queriedGigabytes: [cloudWatch, 'DataScanned-Bytes', 'GB'],
  traces: [xRay, 'XRay-TracesStored', 'traces'],
  firewallRequests: [firewall, 'RequestV2-Tier1', 'requests'],
  alarmMetrics: [cloudWatch, 'CW:AlarmMonitorUsage', 'alarm metrics'],
  compositeAlarms: [cloudWatch, 'CW:CompositeAlarmMonitorUsage', 'composite alarms'],
  customMetrics: [cloudWatch, 'CW:MetricMonitorUsage', 'metrics'],
  encryptionKeys: [keys, 'KMS-Keys', 'keys'],
  storedGigabytes: [dynamoDb, 'TimedStorage-ByteHrs', 'GB-months'],
  backedUpGigabytes: [dynamoDb, 'TimedPITRStorage-ByteHrs', 'GB-months'],
  firewalls: [firewall, 'WebACLV2', 'web ACLs'],
  firewallRules: [firewall, 'RuleV2', 'rules'],
};

/** Such as `EU-Request-ARM` without the region's code: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html */
export function withoutRegion(usageType: string): string {
  return usageType.replace(/^(?:[A-Z]{2,4}\d|EU|CPT|Global|[a-z]{2}(?:-[a-z]+)+-\d)-/, '');
}

export type ExpectedUsage = ReturnType<typeof toExpectedUsage>[number];

/**
 * The expected bill of a month by usage type, with quantities and dollars, so that an error in one shows. Unused types
 * are left out.
 */
export function toExpectedUsage(stage: Stage, traffic: Traffic) {
  const { usage, rates } = toStageMonth(stage, traffic);
  return usageKinds.flatMap((kind) => {
    const [quantity, [service, usageType, unit, alsoNamed]] = [usage[kind], usageTypes[kind]];
    // AWS gives them no tags, so that their lines are of the whole account. Of CloudWatch, alarms alone have some:
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_TagResource.html
    const isTagged = kind !== 'traces' && kind !== 'customMetrics';
    const named = { service, usageType, unit, alsoNamed, isTagged };
    return quantity > 0 ? [{ ...named, quantity, dollars: quantity * rates[kind] }] : [];
  });
}
