/** Dollars per unit, or steps in rising order. Each step ends at a number of units a month; the last has no end. */
type Price = number | readonly { readonly upTo?: number; readonly dollars: number }[];

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

/**
 * US East (N. Virginia), in US dollars without tax, keyed by what AWS counts. A GB is 2^30 bytes, as AWS counts.
 * Monthly free allowances are left out, since other services of the account may use them up.
 */
export const perUnit = {
  // https://aws.amazon.com/api-gateway/pricing/
  gatewayRequests: [
    { upTo: 333e6, dollars: 3.5e-6 },
    { upTo: 1_000e6, dollars: 2.8e-6 },
    { upTo: 20_000e6, dollars: 2.38e-6 },
    { dollars: 1.51e-6 },
  ],
  // Functions on arm64: https://aws.amazon.com/lambda/pricing/
  functionCalls: 0.2e-6,
  gigabyteSeconds: 0.0000133334,
  // The part of a streamed response beyond the first 6 MB.
  streamedGigabytes: 0.008,
  // On demand, table class Standard: https://aws.amazon.com/dynamodb/pricing/on-demand/
  readUnits: 0.125e-6,
  writeUnits: 0.625e-6,
  storedGigabytes: 0.25,
  backedUpGigabytes: 0.2,
  // Out to the internet: https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer
  sentGigabytes: [
    { upTo: 10 * 1_024, dollars: 0.09 },
    { upTo: 50 * 1_024, dollars: 0.085 },
    { upTo: 150 * 1_024, dollars: 0.07 },
    { dollars: 0.05 },
  ],
  // https://aws.amazon.com/cloudwatch/pricing/
  loggedGigabytes: 0.5,
  storedLogGigabytes: 0.03,
  alarmMetrics: 0.1,
  compositeAlarms: 0.5,
  customMetrics: 0.3,
  // https://aws.amazon.com/xray/pricing/
  traces: 5e-6,
  // https://aws.amazon.com/waf/pricing/
  firewalls: 5,
  firewallRules: 1,
  firewallRequests: 0.6e-6,
  // https://aws.amazon.com/kms/pricing/
  encryptionKeys: 1,
} as const satisfies Record<string, Price>;

export type UsageKind = keyof typeof perUnit;
export type Prices = Readonly<Record<UsageKind, Price>>;

/** Dollars per GB that a query of Logs Insights reads: https://aws.amazon.com/cloudwatch/pricing/ */
export const LOG_QUERY_PER_GIGABYTE = 0.005;

/** The day these prices were looked up. */
export const PRICES_AS_OF = '2026-11-21';

/** Ohio and Oregon have Virginia's prices for all that is billed here. For other regions the first one's are used. */
export const pricedRegions = ['us-east-1', 'us-east-2', 'us-west-2'] as const;
