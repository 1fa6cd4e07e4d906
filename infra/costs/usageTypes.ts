import type { Prices } from './prices.ts';

/** The services by their codes in the price list, with their names in bills. */
export const services = {
  AmazonApiGateway: /api ?gateway/i,
  AWSLambda: /lambda/i,
  AmazonDynamoDB: /dynamodb/i,
  // Of whichever service the bytes left.
  AWSDataTransfer: /./,
  AmazonCloudWatch: /cloudwatch/i,
  AWSXRay: /x-?ray/i,
  awswaf: /waf/i,
  awskms: /kms|key management/i,
} as const;

/**
 * AWS's names for the units of the model: the service, the usage type without its region, the unit, and other usage
 * types for the same. Several services have usage types of the same name.
 */
export const usageTypes: Readonly<
  Record<keyof Prices, readonly [keyof typeof services, string, string, RegExp?]>
> = {
  gatewayRequests: ['AmazonApiGateway', 'ApiGatewayRequest', 'requests'],
  functionCalls: ['AWSLambda', 'Request-ARM', 'requests'],
  gigabyteSeconds: ['AWSLambda', 'Lambda-GB-Second-ARM', 'GB-seconds'],
  streamedGigabytes: ['AWSLambda', 'streamed bytes', 'GB', /stream/i],
  readUnits: ['AmazonDynamoDB', 'ReadRequestUnits', 'units'],
  writeUnits: ['AmazonDynamoDB', 'WriteRequestUnits', 'units'],
  sentGigabytes: ['AWSDataTransfer', 'DataTransfer-Out-Bytes', 'GB'],
  // Lambda's logs are billed as those that AWS itself writes.
  loggedGigabytes: ['AmazonCloudWatch', 'DataProcessing-Bytes', 'GB', /^VendedLog-Bytes$/],
  storedLogGigabytes: ['AmazonCloudWatch', 'kept logs', 'GB-months', /^TimedStorage-ByteHrs$/],
  queriedGigabytes: ['AmazonCloudWatch', 'DataScanned-Bytes', 'GB'],
  traces: ['AWSXRay', 'XRay-TracesStored', 'traces'],
  firewallRequests: ['awswaf', 'RequestV2-Tier1', 'requests'],
  alarmMetrics: ['AmazonCloudWatch', 'CW:AlarmMonitorUsage', 'alarm metrics'],
  compositeAlarms: ['AmazonCloudWatch', 'CW:CompositeAlarmMonitorUsage', 'composite alarms'],
  customMetrics: ['AmazonCloudWatch', 'CW:MetricMonitorUsage', 'metrics'],
  encryptionKeys: ['awskms', 'KMS-Keys', 'keys'],
  storedGigabytes: ['AmazonDynamoDB', 'TimedStorage-ByteHrs', 'GB-months'],
  backedUpGigabytes: ['AmazonDynamoDB', 'TimedPITRStorage-ByteHrs', 'GB-months'],
  firewalls: ['awswaf', 'WebACLV2', 'web ACLs'],
  firewallRules: ['awswaf', 'RuleV2', 'rules'],
};

/** Such as `EU-Request-ARM` without the region's code: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html */
export function withoutRegion(usageType: string): string {
  return usageType.replace(/^(?:[A-Z]{2,4}\d|EU|CPT|Global|[a-z]{2}(?:-[a-z]+)+-\d)-/, '');
}
