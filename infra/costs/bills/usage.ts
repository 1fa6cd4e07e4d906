import { type PriceTable, toUnitDollars } from '../prices.ts';
import type { BilledUnits } from '../units/answerUnits.ts';

/** Dollars of each component of a bill for requests. */
export type Dollars = Readonly<Record<Component, number>>;
export type Component = keyof typeof componentLabels;

/** What a bill for requests is made of, in the words of tables. */
export const componentLabels = {
  gateway: 'gateway',
  lambda: 'Lambda',
  readUnits: 'reads',
  writeUnits: 'writes',
  transfer: 'transfer',
  logs: 'logs',
  tracing: 'traces',
  firewall: 'firewall',
} as const;
export const components = Object.keys(componentLabels) as Component[];

/** Each thing that AWS counts of requests, and the component that it is billed under. GB are of 2^30 bytes. */
const componentOf = {
  gatewayRequests: 'gateway',
  functionCalls: 'lambda',
  gigabyteSeconds: 'lambda',
  streamedGigabytes: 'lambda',
  readUnits: 'readUnits',
  writeUnits: 'writeUnits',
  sentGigabytes: 'transfer',
  loggedGigabytes: 'logs',
  traces: 'tracing',
  firewallRequests: 'firewall',
} as const satisfies Record<string, Component>;

export type UsageKind = keyof typeof componentOf;
export const usageKinds = Object.keys(componentOf) as UsageKind[];

/** What some requests used, whoever's they were and however many. */
export type Usage = Readonly<Record<UsageKind, number>>;
/** Dollars for one of each. */
export type Rates = Readonly<Record<UsageKind, number>>;

/** What of a stage's settings makes a request cost more or less. */
export interface RequestPricing {
  readonly prices: PriceTable;
  /** Of a hundred requests, as many as X-Ray keeps a trace of. */
  readonly tracedPercent: number;
  readonly hasFirewall: boolean;
}

/** Of a streamed answer, what Lambda sends without a charge: https://aws.amazon.com/lambda/pricing/ */
export const FREE_STREAMED_BYTES = 6 * 2 ** 20;
export const GIGABYTE = 2 ** 30;

/** What one request uses. */
export function toRequestUsage(
  units: BilledUnits,
  { tracedPercent, hasFirewall }: Omit<RequestPricing, 'prices'>,
): Usage {
  const { functionCalls, gatewayRequests, logBytes, responseBytes } = units;
  const streamedBytes = Math.max(0, responseBytes - FREE_STREAMED_BYTES);
  return {
    gatewayRequests,
    functionCalls,
    gigabyteSeconds: (functionCalls * units.memoryMegabytes * units.billedMilliseconds) / 1_024_000,
    streamedGigabytes: (functionCalls * streamedBytes) / GIGABYTE,
    readUnits: units.readUnits,
    writeUnits: units.writeUnits,
    sentGigabytes: responseBytes / GIGABYTE,
    loggedGigabytes: Object.values(logBytes).reduce((sum, bytes) => sum + bytes, 0) / GIGABYTE,
    traces: gatewayRequests > 0 ? tracedPercent / 100 : 0,
    firewallRequests: hasFirewall ? 1 : 0,
  };
}

/**
 * Prices as dollars for one of each.
 * @param month all that the account uses in the month, by which some prices fall; the first step where it is left out
 */
export function toRates(prices: PriceTable, month: Usage = sumUsage([])): Rates {
  const sentBytes = month.sentGigabytes * GIGABYTE;
  return {
    gatewayRequests: toUnitDollars(prices.gatewayRequests, month.gatewayRequests),
    functionCalls: prices.lambdaPerMillionRequests / 1e6,
    gigabyteSeconds: prices.lambdaPerGigabyteSecond,
    streamedGigabytes: prices.lambdaPerStreamedGigabyte,
    readUnits: prices.dynamoDbPerMillionReadUnits / 1e6,
    writeUnits: prices.dynamoDbPerMillionWriteUnits / 1e6,
    sentGigabytes: toUnitDollars(prices.transferBytes, sentBytes) * GIGABYTE,
    loggedGigabytes: prices.logsPerGigabyte,
    traces: prices.tracesPerMillion / 1e6,
    firewallRequests: prices.firewallPerMillionRequests / 1e6,
  };
}

/** Units times prices: every amount for requests is made here. */
export function toDollars(usage: Usage, rates: Rates): Dollars {
  const dollars = toRecord(components, () => 0);
  for (const kind of usageKinds) dollars[componentOf[kind]] += usage[kind] * rates[kind];
  return dollars;
}

/** What a million such requests cost, by the first step of each price. */
export function toDollarsPerMillion(units: BilledUnits, pricing: RequestPricing): Dollars {
  return toDollars(scaleUsage(toRequestUsage(units, pricing), 1e6), toRates(pricing.prices));
}

export function sumUsage(each: readonly Usage[]): Usage {
  return toRecord(usageKinds, (kind) => each.reduce((sum, one) => sum + one[kind], 0));
}

export function scaleUsage(usage: Usage, factor: number): Usage {
  return toRecord(usageKinds, (kind) => usage[kind] * factor);
}

/** All components together. */
export function sumDollars(dollars: Readonly<Record<string, number>>): number {
  return Object.values(dollars).reduce((sum, each) => sum + each, 0);
}

/** Component by component. */
export function addDollars(each: readonly Dollars[]): Dollars {
  return toRecord(components, (one) => each.reduce((sum, dollars) => sum + dollars[one], 0));
}

function toRecord<Key extends string>(
  keys: readonly Key[],
  toValue: (key: Key) => number,
): Record<Key, number> {
  return Object.fromEntries(keys.map((key) => [key, toValue(key)])) as Record<Key, number>;
}
