import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The services as columns of the tables, with their codes and names in bills, as regular expressions in any case. */
const billedServices = {
  'API Gateway': 'api ?gateway',
  Lambda: 'lambda',
  DynamoDB: 'dynamodb',
  // Of whichever service the bytes left.
  transfer: '.',
  CloudWatch: 'cloudwatch',
  'X-Ray': 'x-?ray',
  WAF: 'waf',
  KMS: 'kms|key management',
} as const;
export type Service = keyof typeof billedServices;
export const services = Object.keys(billedServices) as Service[];

/** A kind of usage that AWS bills, with AWS's usage types without their region. A GB is 2^30 bytes. */
type Kind = readonly [service: Service, unit: string, usageType: string];

const kindsByRequest = {
  gatewayRequests: ['API Gateway', 'requests of the gateway', 'ApiGatewayRequest'],
  functionCalls: ['Lambda', 'invocations of functions', 'Request-ARM'],
  gigabyteSeconds: ['Lambda', 'GB-seconds of functions', 'Lambda-GB-Second-ARM'],
  streamedGigabytes: ['Lambda', 'streamed GB past 6 MB', '.*[Ss]tream.*'],
  readUnits: ['DynamoDB', 'read units', 'ReadRequestUnits'],
  writeUnits: ['DynamoDB', 'write units', 'WriteRequestUnits'],
  sentGigabytes: ['transfer', 'GB sent', 'DataTransfer-Out-Bytes'],
  // Lambda's logs are billed as those that AWS itself writes.
  loggedGigabytes: ['CloudWatch', 'GB logged', 'DataProcessing-Bytes|VendedLog-Bytes'],
  traces: ['X-Ray', 'traces', 'XRay-TracesStored'],
  firewallRequests: ['WAF', 'requests through the firewall', 'RequestV2-Tier1'],
} as const satisfies Record<string, Kind>;

export const kindsByMonth = {
  storedGigabytes: ['DynamoDB', 'GB in tables', 'TimedStorage-ByteHrs'],
  backedUpGigabytes: ['DynamoDB', 'GB of backups', 'TimedPITRStorage-ByteHrs'],
  storedLogGigabytes: ['CloudWatch', 'GB of kept logs', 'TimedStorage-ByteHrs'],
  // By people, never by the service.
  queriedGigabytes: ['CloudWatch', 'GB of logs queried', 'DataScanned-Bytes'],
  // An alarm is billed for each of its metrics.
  alarmMetrics: ['CloudWatch', 'metrics with an alarm', 'CW:AlarmMonitorUsage'],
  compositeAlarms: ['CloudWatch', 'composite alarms', 'CW:CompositeAlarmMonitorUsage'],
  customMetrics: ['CloudWatch', 'custom metrics', 'CW:MetricMonitorUsage'],
  firewalls: ['WAF', 'firewalls', 'WebACLV2'],
  firewallRules: ['WAF', 'rules of the firewall', 'RuleV2'],
  encryptionKeys: ['KMS', 'encryption keys', 'KMS-Keys'],
} as const satisfies Record<string, Kind>;

export const kinds = { ...kindsByRequest, ...kindsByMonth };
export type UsageKind = keyof typeof kinds;
export const usageKinds = Object.keys(kinds) as UsageKind[];

/** Dollars per unit, or steps in rising order. Each step ends at a number of units a month; the last has no end. */
export type Price = number | readonly { readonly upTo?: number; readonly dollars: number }[];

/** A region's prices in US dollars, without tax, discounts and what is free each month. */
export interface PriceTable {
  /** The day on which they were looked up. */
  readonly asOf: string;
  readonly prices: Readonly<Record<UsageKind, Price>>;
}

/** The average price per unit in a month with so many units; for 0, the price of the first step. */
export function toUnitDollars(price: Price, units = 0): number {
  const steps: Exclude<Price, number> = typeof price === 'number' ? [{ dollars: price }] : price;
  let [from, sum] = [0, 0];
  for (const { upTo = Number.POSITIVE_INFINITY, dollars } of steps) {
    // Without the rounding of a sum.
    if (from === 0 && units <= upTo) return dollars;
    sum += Math.max(0, Math.min(units, upTo) - from) * dollars;
    from = upTo;
  }
  return sum / units;
}

/** The region of a stage whose settings and environment name none. */
export const usualRegion = 'us-east-1';

const pricesFolder = new URL('prices/', import.meta.url);

/** @throws {Error} when the prices of the region are not in the folder, or not all of them */
export function readPrices(region = usualRegion, folder = pricesFolder) {
  const name = `infra/costs/prices/${region}.json`;
  const file = new URL(`${region}.json`, folder);
  if (!existsSync(file)) {
    throw new Error(
      `The prices of ${region} are not known: copy infra/costs/prices/${usualRegion}.json to ${name}, and look each price up at https://aws.amazon.com/pricing/.`,
    );
  }
  const table: PriceTable = JSON.parse(readFileSync(file, 'utf8'));
  const missing = usageKinds.find((kind) => table.prices[kind] === undefined);
  if (missing) throw new Error(`${name} has no price of ${missing}.`);
  return table;
}

/**
 * The prices of all regions, at the first step of those that fall with use. `service` and `usageType` are for the lines
 * of bills: regular expressions for the service's code or name, in any case, and for the usage type without its region.
 */
export function listPrices() {
  return readdirSync(pricesFolder).flatMap((file) => {
    const region = file.replace('.json', '');
    const { prices } = readPrices(region);
    return usageKinds.map((kind) => {
      const [service, unit, usageType] = kinds[kind];
      const dollars = toUnitDollars(prices[kind]);
      const isPerRequest = kind in kindsByRequest;
      return { region, unit, service: billedServices[service], usageType, dollars, isPerRequest };
    });
  });
}
