/**
 * What AWS bills in one region, in US dollars and without tax. GB are of 2^30 bytes, as AWS counts them.
 * Of what falls with use, all steps are here that a stage's throttles let it reach. What AWS gives away to each
 * account every month is left out: the account may use it up elsewhere.
 */
export interface PriceTable {
  /** The day that the prices were looked up, such as `2026-11-21`. */
  readonly asOf: string;
  /** Requests to a REST API; a streamed answer counts as one for each 10 MB begun. */
  readonly gatewayRequests: TieredPrice;
  /** Dollars for a million calls. */
  readonly lambdaPerMillionRequests: number;
  /** Of functions on arm64. */
  readonly lambdaPerGigabyteSecond: number;
  /** Of a streamed answer, the bytes past the first 6 MB. */
  readonly lambdaPerStreamedGigabyte: number;
  /** On demand, table class Standard. */
  readonly dynamoDbPerMillionReadUnits: number;
  readonly dynamoDbPerMillionWriteUnits: number;
  readonly dynamoDbPerStoredGigabyte: number;
  /** Continuous backups, for a GB of table and a month. */
  readonly dynamoDbPerBackedUpGigabyte: number;
  /** Out to the internet; its units are bytes, so that a million of them are 1 MB. */
  readonly transferBytes: TieredPrice;
  /** Log lines written, of the classes Standard and Infrequent Access. */
  readonly logsPerGigabyte: number;
  readonly infrequentLogsPerGigabyte: number;
  /** What a query of Logs Insights reads. */
  readonly logQueryPerGigabyte: number;
  readonly tracesPerMillion: number;
  /** A web ACL, a rule, and what a million requests through them cost. */
  readonly firewallPerMonth: number;
  readonly firewallRulePerMonth: number;
  readonly firewallPerMillionRequests: number;
  /** For a month of each metric that an alarm looks at. */
  readonly alarmMetricPerMonth: number;
  readonly customMetricPerMonth: number;
  readonly encryptionKeyPerMonth: number;
  /** Requests to an HTTP API, for comparison. */
  readonly httpApiRequests: TieredPrice;
}

/** One step of a price that falls with what an account uses in a month. */
export interface Tier {
  /** The units of the month that the step ends at; none at the last one. */
  readonly upTo?: number;
  /** Dollars for a million units. */
  readonly perMillion: number;
}

/** Steps in rising order, the last without an end. */
export type TieredPrice = readonly [...Tier[], Tier];

/**
 * What so many units of one month cost, in dollars.
 * @param units from 0
 */
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

/**
 * Dollars for one unit where a month has so many.
 * @param units the first step's price where there are none
 */
export function toUnitDollars(price: TieredPrice, units: number): number {
  return units > 0 ? toTieredDollars(price, units) / units : (price[0]?.perMillion ?? 0) / 1e6;
}
