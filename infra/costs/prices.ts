import { existsSync, readFileSync } from 'node:fs';
import allowancesFile from './allowances.json' with { type: 'json' };

/** The components of a bill, by their names in tables. */
export const componentLabels = {
  gateway: 'gateway',
  lambda: 'Lambda',
  readUnits: 'reads',
  writeUnits: 'writes',
  transfer: 'transfer',
  logs: 'logs',
  storedLogs: 'stored logs',
  tracing: 'traces',
  firewall: 'firewall',
  alarms: 'alarms',
  metrics: 'metrics',
  encryptionKeys: 'encryption key',
  storage: 'storage',
} as const;
type Component = keyof typeof componentLabels;
export const components = Object.keys(componentLabels) as Component[];

export type Dollars = Readonly<Record<Component, number>>;

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

type UsagePart = readonly [
  component: Component,
  name: string,
  service: keyof typeof services,
  usageType: string,
  otherUsageTypes?: RegExp,
];

/**
 * What AWS counts, with its component of the bill and its name, where a GB is 2^30 bytes. Then AWS's names: the service,
 * the usage type without its region, and other usage types for the same. Services have usage types of the same name.
 */
const parts = {
  gatewayRequests: ['gateway', 'requests of the gateway', 'AmazonApiGateway', 'ApiGatewayRequest'],
  functionCalls: ['lambda', 'calls of functions', 'AWSLambda', 'Request-ARM'],
  gigabyteSeconds: ['lambda', 'GB-seconds of functions', 'AWSLambda', 'Lambda-GB-Second-ARM'],
  streamedGigabytes: ['lambda', 'streamed GB past 6 MB', 'AWSLambda', 'streamed bytes', /stream/i],
  readUnits: ['readUnits', 'read units', 'AmazonDynamoDB', 'ReadRequestUnits'],
  writeUnits: ['writeUnits', 'write units', 'AmazonDynamoDB', 'WriteRequestUnits'],
  sentGigabytes: ['transfer', 'GB sent', 'AWSDataTransfer', 'DataTransfer-Out-Bytes'],
  // Lambda's logs are billed as those that AWS itself writes.
  loggedGigabytes: [
    'logs',
    'GB logged',
    'AmazonCloudWatch',
    'DataProcessing-Bytes',
    /^VendedLog-Bytes$/,
  ],
  storedLogGigabytes: [
    'storedLogs',
    'GB of kept logs',
    'AmazonCloudWatch',
    'kept logs',
    /^TimedStorage-ByteHrs$/,
  ],
  // By the commands, never by the service.
  queriedGigabytes: ['logs', 'GB of logs queried', 'AmazonCloudWatch', 'DataScanned-Bytes'],
  traces: ['tracing', 'traces', 'AWSXRay', 'XRay-TracesStored'],
  firewallRequests: ['firewall', 'requests through the firewall', 'awswaf', 'RequestV2-Tier1'],
  // Fixed per month. An alarm is billed for each of its metrics.
  alarmMetrics: ['alarms', 'metrics with an alarm', 'AmazonCloudWatch', 'CW:AlarmMonitorUsage'],
  compositeAlarms: [
    'alarms',
    'composite alarms',
    'AmazonCloudWatch',
    'CW:CompositeAlarmMonitorUsage',
  ],
  customMetrics: ['metrics', 'custom metrics', 'AmazonCloudWatch', 'CW:MetricMonitorUsage'],
  encryptionKeys: ['encryptionKeys', 'encryption keys', 'awskms', 'KMS-Keys'],
  firewalls: ['firewall', 'firewalls', 'awswaf', 'WebACLV2'],
  firewallRules: ['firewall', 'rules of the firewall', 'awswaf', 'RuleV2'],
  storedGigabytes: ['storage', 'GB in tables', 'AmazonDynamoDB', 'TimedStorage-ByteHrs'],
  backedUpGigabytes: ['storage', 'GB of backups', 'AmazonDynamoDB', 'TimedPITRStorage-ByteHrs'],
} as const satisfies Record<string, UsagePart>;

export type UsageKind = keyof typeof parts;
export const usageKinds = Object.keys(parts) as UsageKind[];
export const usageParts: Readonly<Record<UsageKind, UsagePart>> = parts;

/** Such as `EU-Request-ARM` without the region's code: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html */
export function withoutRegion(usageType: string): string {
  return usageType.replace(/^(?:[A-Z]{2,4}\d|EU|CPT|Global|[a-z]{2}(?:-[a-z]+)+-\d)-/, '');
}

/** Dollars per unit, or steps in rising order. Each step ends at a number of units a month; the last has no end. */
export type Price = number | readonly { readonly upTo?: number; readonly dollars: number }[];

/** The average price per unit in a month with `units` units; for 0 units, the price of the first step. */
export function toUnitDollars(price: Price, units: number): number {
  if (typeof price === 'number') return price;
  if (units === 0) return price[0]?.dollars ?? 0;
  let sum = 0;
  let from = 0;
  for (const { upTo = Number.POSITIVE_INFINITY, dollars } of price) {
    sum += Math.max(0, Math.min(units, upTo) - from) * dollars;
    from = upTo;
  }
  return sum / units;
}

/** In US dollars. Without tax, and without monthly free allowances, since other services of the account may use them up. */
export type Prices = Readonly<Record<UsageKind, Price>>;

/** The region of a stage whose settings and environment name none. */
export const usualRegion = 'us-east-1';

/** @throws {Error} when nobody has looked up the prices of the region, or not all of them */
export function readPrices(region = usualRegion, file = toPriceFile(region)) {
  const remedy = `npx petstore costs prices --region ${region} reads them from AWS.`;
  if (!existsSync(file)) throw new Error(`The prices of ${region} are not known: ${remedy}`);
  // `asOf` is the day on which these prices were looked up.
  const table: { readonly asOf: string; readonly prices: Prices } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const missing = usageKinds.find((kind) => table.prices[kind] === undefined);
  if (missing) throw new Error(`The prices of ${region} have no ${missing}: ${remedy}`);
  return table;
}

/** A sentence on regions whose prices were looked up without the steps of use, or nothing. */
export function describeMissingSteps(regions: readonly string[]): string | undefined {
  const found = regions.filter((region) => {
    if (!existsSync(toPriceFile(region))) return false;
    return Object.values(readPrices(region).prices).every((price) => typeof price === 'number');
  });
  if (found.length === 0) return undefined;
  return `The prices of ${found.join(' and ')} have only their first step: much use, as in the worst month, is priced too high.`;
}

export function toPriceFile(region: string): URL {
  return new URL(`prices/${region}.json`, import.meta.url);
}

/** What AWS does not bill each month, without end. */
export const { allowances } = allowancesFile;

/** A kind of usage that the model prices, as the lines of a bill have it. */
export interface ListPrice {
  /** Such as `read units`. */
  readonly unit: string;
  /** Dollars a unit, at the first step of a price that falls with use. */
  readonly dollars: number;
  /** Regular expressions in the syntax of both JavaScript and DuckDB: for the service's code or name, in any case, */
  readonly service: string;
  /** and for the whole usage type, with or without its region, such as `EU-ReadRequestUnits`. */
  readonly usageType: string;
  /** Whether its quantity grows with the requests. */
  readonly isPerRequest: boolean;
}

/** @throws {Error} when nobody has looked up the prices of the region; `toPriceFile` says which file that is */
export function listPrices(region = usualRegion): readonly ListPrice[] {
  const { prices } = readPrices(region);
  return usageKinds.map((kind) => {
    const [, unit, service, usageType, others] = usageParts[kind];
    const own = others ? `${usageType}|${toWhole(others.source)}` : usageType;
    return {
      unit,
      dollars: toUnitDollars(prices[kind], 0),
      service: services[service].source,
      usageType: `^(?:(?:[A-Z]{2,4}[0-9]|EU|CPT|Global|[a-z]{2}(?:-[a-z]+)+-[0-9])-)?(?:${own})$`,
      isPerRequest: perRequest.includes(kind),
    };
  });
}

const toWhole = (source: string) =>
  source.startsWith('^') ? source.slice(1, -1) : `.*[Ss]${source.slice(1)}.*`;

const perRequest: readonly UsageKind[] = [
  'gatewayRequests',
  'functionCalls',
  'gigabyteSeconds',
  'streamedGigabytes',
  'readUnits',
  'writeUnits',
  'sentGigabytes',
  'loggedGigabytes',
  'traces',
  'firewallRequests',
];
