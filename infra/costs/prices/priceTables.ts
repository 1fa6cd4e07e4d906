import type { PriceTable } from './priceTable.ts';

/** Dollars for a GB, as a price for a million bytes. */
const perGigabyte = (dollars: number) => (dollars * 1e6) / 2 ** 30;
const TERABYTE = 2 ** 40;

/** US East (N. Virginia). Each price stands below the page that it is from. */
const usEast1 = {
  asOf: '2026-11-21',

  // https://aws.amazon.com/api-gateway/pricing/
  gatewayRequests: [
    { upTo: 333e6, perMillion: 3.5 },
    { upTo: 1_000e6, perMillion: 2.8 },
    { upTo: 20_000e6, perMillion: 2.38 },
    { perMillion: 1.51 },
  ],
  httpApiRequests: [{ upTo: 300e6, perMillion: 1 }, { perMillion: 0.9 }],

  // https://aws.amazon.com/lambda/pricing/
  lambdaPerMillionRequests: 0.2,
  lambdaPerGigabyteSecond: 0.0000133334,
  lambdaPerStreamedGigabyte: 0.008,

  // https://aws.amazon.com/dynamodb/pricing/on-demand/
  dynamoDbPerMillionReadUnits: 0.125,
  dynamoDbPerMillionWriteUnits: 0.625,
  dynamoDbPerStoredGigabyte: 0.25,
  dynamoDbPerBackedUpGigabyte: 0.2,

  // https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer
  transferBytes: [
    { upTo: 10 * TERABYTE, perMillion: perGigabyte(0.09) },
    { upTo: 50 * TERABYTE, perMillion: perGigabyte(0.085) },
    { upTo: 150 * TERABYTE, perMillion: perGigabyte(0.07) },
    { perMillion: perGigabyte(0.05) },
  ],

  // https://aws.amazon.com/cloudwatch/pricing/
  logsPerGigabyte: 0.5,
  infrequentLogsPerGigabyte: 0.25,
  logQueryPerGigabyte: 0.005,
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
} as const satisfies PriceTable;

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
