/** One step of a price that falls with what an account uses in a month. */
interface Tier {
  /** The units of the month that the step ends at; none at the last one. */
  readonly upTo?: number;
  /** Dollars for a million units. */
  readonly perMillion: number;
}

/** Steps in rising order, the last without an end. */
export type TieredPrice = readonly [...Tier[], Tier];

/** What so many units of one month cost, in dollars. */
export function toTieredDollars(price: TieredPrice, units: number): number {
  let dollars = 0;
  let from = 0;
  for (const { upTo = Number.POSITIVE_INFINITY, perMillion } of price) {
    if (units <= from) break;
    dollars += ((Math.min(units, upTo) - from) / 1e6) * perMillion;
    from = upTo;
  }
  return dollars;
}

/** Dollars for one unit where a month has so many; by the first step where it has none. */
export function toUnitDollars(price: TieredPrice, units: number): number {
  return units > 0 ? toTieredDollars(price, units) / units : (price[0]?.perMillion ?? 0) / 1e6;
}

/** Dollars for a GB, as a price for a million bytes. */
const perGigabyte = (dollars: number) => (dollars * 1e6) / 2 ** 30;
const TERABYTE = 2 ** 40;

// https://aws.amazon.com/api-gateway/pricing/
const gatewayRequests: TieredPrice = [
  { upTo: 333e6, perMillion: 3.5 },
  { upTo: 1_000e6, perMillion: 2.8 },
  { upTo: 20_000e6, perMillion: 2.38 },
  { perMillion: 1.51 },
];
const httpApiRequests: TieredPrice = [{ upTo: 300e6, perMillion: 1 }, { perMillion: 0.9 }];

// Out to the internet: https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer
const transferBytes: TieredPrice = [
  { upTo: 10 * TERABYTE, perMillion: perGigabyte(0.09) },
  { upTo: 50 * TERABYTE, perMillion: perGigabyte(0.085) },
  { upTo: 150 * TERABYTE, perMillion: perGigabyte(0.07) },
  { perMillion: perGigabyte(0.05) },
];

/**
 * US East (N. Virginia), in US dollars without tax. GB are of 2^30 bytes, as AWS counts them. What AWS gives
 * away to each account every month is left out, since the account may use it up elsewhere.
 */
const usEast1 = {
  /** The day that the prices were looked up. */
  asOf: '2026-11-21',
  gatewayRequests,
  /** Requests to an HTTP API, for comparison. */
  httpApiRequests,
  transferBytes,

  // Functions on arm64: https://aws.amazon.com/lambda/pricing/
  lambdaPerMillionRequests: 0.2,
  lambdaPerGigabyteSecond: 0.0000133334,
  /** Of a streamed answer, the bytes past the first 6 MB. */
  lambdaPerStreamedGigabyte: 0.008,

  // On demand, table class Standard: https://aws.amazon.com/dynamodb/pricing/on-demand/
  dynamoDbPerMillionReadUnits: 0.125,
  dynamoDbPerMillionWriteUnits: 0.625,
  dynamoDbPerStoredGigabyte: 0.25,
  /** Continuous backups, for a GB of table and a month. */
  dynamoDbPerBackedUpGigabyte: 0.2,

  // https://aws.amazon.com/cloudwatch/pricing/
  logsPerGigabyte: 0.5,
  infrequentLogsPerGigabyte: 0.25,
  /** What a query of Logs Insights reads. */
  logQueryPerGigabyte: 0.005,
  /** For a month of each metric that an alarm looks at. */
  alarmMetricPerMonth: 0.1,
  customMetricPerMonth: 0.3,

  // https://aws.amazon.com/xray/pricing/
  tracesPerMillion: 5,

  // https://aws.amazon.com/waf/pricing/
  firewallPerMonth: 5,
  firewallRulePerMonth: 1,
  firewallPerMillionRequests: 0.6,

  // https://aws.amazon.com/kms/pricing/
  encryptionKeyPerMonth: 1,
};

/** What AWS bills in one region. */
export type PriceTable = Readonly<typeof usEast1>;

/** The regions whose prices are known. Those of Ohio and Oregon are Virginia's, for all that is billed here. */
export const priceTables: Readonly<Record<string, PriceTable>> = {
  'us-east-1': usEast1,
  'us-east-2': usEast1,
  'us-west-2': usEast1,
};

/** Where a stage has no region of its own. */
export const defaultRegion = 'us-east-1';
export const defaultPrices: PriceTable = usEast1;

/** A region's prices; Virginia's where they are not known. */
export function findPrices(region: string | undefined): PriceTable {
  return priceTables[region ?? defaultRegion] ?? defaultPrices;
}
