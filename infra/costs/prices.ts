import { existsSync, readFileSync } from 'node:fs';

/** The services as columns of the tables, with their codes and names in bills, in the syntax of `ListPrice`. */
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

/**
 * A kind of usage that AWS bills, with AWS's usage types without their region. What is `fixed` is billed by the month,
 * and all else by request. A GB is 2^30 bytes.
 */
type Kind = readonly [service: Service, unit: string, usageType: string, isFixed?: 'fixed'];

const kinds = {
  gatewayRequests: ['API Gateway', 'requests of the gateway', 'ApiGatewayRequest'],
  functionCalls: ['Lambda', 'calls of functions', 'Request-ARM'],
  gigabyteSeconds: ['Lambda', 'GB-seconds of functions', 'Lambda-GB-Second-ARM'],
  streamedGigabytes: ['Lambda', 'streamed GB past 6 MB', '.*[Ss]tream.*'],
  readUnits: ['DynamoDB', 'read units', 'ReadRequestUnits'],
  writeUnits: ['DynamoDB', 'write units', 'WriteRequestUnits'],
  storedGigabytes: ['DynamoDB', 'GB in tables', 'TimedStorage-ByteHrs', 'fixed'],
  backedUpGigabytes: ['DynamoDB', 'GB of backups', 'TimedPITRStorage-ByteHrs', 'fixed'],
  sentGigabytes: ['transfer', 'GB sent', 'DataTransfer-Out-Bytes'],
  // Lambda's logs are billed as those that AWS itself writes.
  loggedGigabytes: ['CloudWatch', 'GB logged', 'DataProcessing-Bytes|VendedLog-Bytes'],
  storedLogGigabytes: ['CloudWatch', 'GB of kept logs', 'TimedStorage-ByteHrs', 'fixed'],
  // By people, never by the service.
  queriedGigabytes: ['CloudWatch', 'GB of logs queried', 'DataScanned-Bytes', 'fixed'],
  // An alarm is billed for each of its metrics.
  alarmMetrics: ['CloudWatch', 'metrics with an alarm', 'CW:AlarmMonitorUsage', 'fixed'],
  compositeAlarms: ['CloudWatch', 'composite alarms', 'CW:CompositeAlarmMonitorUsage', 'fixed'],
  customMetrics: ['CloudWatch', 'custom metrics', 'CW:MetricMonitorUsage', 'fixed'],
  traces: ['X-Ray', 'traces', 'XRay-TracesStored'],
  firewallRequests: ['WAF', 'requests through the firewall', 'RequestV2-Tier1'],
  firewalls: ['WAF', 'firewalls', 'WebACLV2', 'fixed'],
  firewallRules: ['WAF', 'rules of the firewall', 'RuleV2', 'fixed'],
  encryptionKeys: ['KMS', 'encryption keys', 'KMS-Keys', 'fixed'],
} as const satisfies Record<string, Kind>;

export type UsageKind = keyof typeof kinds;
export const usageKinds = Object.keys(kinds) as UsageKind[];
export const kindOf: Readonly<Record<UsageKind, Kind>> = kinds;

/** Dollars per unit, or steps in rising order. Each step ends at a number of units a month; the last has no end. */
export type Price = number | readonly { readonly upTo?: number; readonly dollars: number }[];

/** In US dollars, without tax, discounts and what is free each month. */
export type Prices = Readonly<Record<UsageKind, Price>>;

/** The average price per unit in a month with so many units; for 0, the price of the first step. */
export function toUnitDollars(price: Price, units = 0): number {
  if (typeof price === 'number') return price;
  const { upTo: firstStep = Number.POSITIVE_INFINITY, dollars = 0 } = price[0] ?? {};
  // Without the rounding of a sum.
  if (units <= firstStep) return dollars;
  let sum = 0;
  let from = 0;
  for (const { upTo = Number.POSITIVE_INFINITY, dollars } of price) {
    sum += Math.max(0, Math.min(units, upTo) - from) * dollars;
    from = upTo;
  }
  return sum / units;
}

/** The region of a stage whose settings and environment name none. */
export const usualRegion = 'us-east-1';

/** @throws {Error} when the prices of the region are not in `prices/`, or not all of them */
export function readPrices(region = usualRegion, file = toPriceFile(region)) {
  const name = `infra/costs/prices/${region}.json`;
  if (!existsSync(file)) {
    throw new Error(
      `The prices of ${region} are not known: copy infra/costs/prices/${usualRegion}.json to ${name}, and look each price up at https://aws.amazon.com/pricing/.`,
    );
  }
  /** `asOf` is the day on which these prices were looked up. */
  const table: { readonly asOf: string; readonly prices: Prices } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const missing = usageKinds.find((kind) => table.prices[kind] === undefined);
  if (missing) throw new Error(`${name} has no price of ${missing}.`);
  return table;
}

function toPriceFile(region: string): URL {
  return new URL(`prices/${region}.json`, import.meta.url);
}

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

/** https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-region-billing-codes.html */
const regionCode = '(?:[A-Z]{2,4}[0-9]|EU|CPT|Global|[a-z]{2}(?:-[a-z]+)+-[0-9])-';

/** @throws {Error} when the prices of the region are not in `prices/` */
export function listPrices(region = usualRegion): readonly ListPrice[] {
  const { prices } = readPrices(region);
  return usageKinds.map((kind) => {
    const [service, unit, usageType, isFixed] = kindOf[kind];
    return {
      unit,
      dollars: toUnitDollars(prices[kind]),
      service: billedServices[service],
      usageType: `^(?:${regionCode})?(?:${usageType})$`,
      isPerRequest: !isFixed,
    };
  });
}
