import type { StageSettings } from '../../stages/stageSettings.ts';
import type { Figures } from '../figures.ts';
import {
  components,
  type Dollars,
  type Prices,
  toUnitDollars,
  type UsageKind,
  usageKinds,
  usageParts,
} from '../prices.ts';
import type { ResponseUnits } from '../units/responseUnits.ts';

export type Usage = Readonly<Partial<Record<UsageKind, number>>>;
type Rates = Readonly<Record<UsageKind, number>>;

/** What a stage's requests are priced with. */
export interface RequestPricing extends Figures {
  readonly memoryMegabytes: StageSettings['memoryMegabytes'];
  /** How many of a hundred requests X-Ray traces. */
  readonly tracedPercent: number;
  readonly hasFirewall: boolean;
}

/** Lambda sends these bytes of a streamed response free of charge: https://aws.amazon.com/lambda/pricing/ */
export const FREE_STREAMED_BYTES = 6 * 2 ** 20;
export const GIGABYTE = 2 ** 30;

export function toRequestUsage(
  units: ResponseUnits,
  { memoryMegabytes, tracedPercent, hasFirewall }: RequestPricing,
  requests: number,
): Usage {
  const { functionCalls, gatewayRequests, logBytes, responseBytes } = units;
  const gigabytes = memoryMegabytes[units.operationId] / 1_024;
  const streamedBytes = Math.max(0, responseBytes - FREE_STREAMED_BYTES);
  const one: Usage = {
    gatewayRequests,
    functionCalls,
    gigabyteSeconds: (functionCalls * gigabytes * units.billedMilliseconds) / 1_000,
    streamedGigabytes: (functionCalls * streamedBytes) / GIGABYTE,
    readUnits: units.readUnits,
    writeUnits: units.writeUnits,
    sentGigabytes: responseBytes / GIGABYTE,
    loggedGigabytes: sumOf(Object.values(logBytes), (bytes) => bytes) / GIGABYTE,
    traces: gatewayRequests > 0 ? tracedPercent / 100 : 0,
    firewallRequests: hasFirewall ? 1 : 0,
  };
  return toRecord(usageKinds, (kind) => (one[kind] ?? 0) * requests);
}

/**
 * @param prices those of an earlier commit may lack what it did not use
 * @param month the account's use in the month, since some prices fall with use; default: the first step
 */
export function toRates(prices: Prices, month: Usage = {}): Rates {
  return toRecord(usageKinds, (kind) => toUnitDollars(prices[kind] ?? 0, month[kind] ?? 0));
}

/** Multiplies units by prices. Every amount is calculated here. */
export function toDollars(usage: Usage, rates: Rates): Dollars {
  const dollars = toRecord(components, () => 0);
  for (const kind of usageKinds) dollars[usageParts[kind][0]] += (usage[kind] ?? 0) * rates[kind];
  return dollars;
}

/** What a million such requests cost, at the first step of each price. */
export function toDollarsPerMillion(units: ResponseUnits, pricing: RequestPricing): Dollars {
  return toDollars(toRequestUsage(units, pricing, 1e6), toRates(pricing.prices));
}

export function sumUsage(each: readonly Usage[]): Required<Usage> {
  return toRecord(usageKinds, (kind) => sumOf(each, (one) => one[kind] ?? 0));
}

export function sumDollars(dollars: Readonly<Record<string, number>>): number {
  return sumOf(Object.values(dollars), (each) => each);
}

export function sumOf<One>(all: readonly One[], toNumber: (one: One) => number): number {
  return all.reduce((sum, one) => sum + toNumber(one), 0);
}

/** The largest first, whether gained or lost. */
export function sortByAmount<One>(all: readonly One[], toNumber: (one: One) => number): One[] {
  return all.toSorted((one, other) => Math.abs(toNumber(other)) - Math.abs(toNumber(one)));
}

export function toRecord<Key extends string>(
  keys: readonly Key[],
  toValue: (key: Key) => number,
): Record<Key, number> {
  return Object.fromEntries(keys.map((key) => [key, toValue(key)])) as Record<Key, number>;
}

export function toCents(dollars: number): string {
  return cents.format(dollars);
}

/** A quantity, or the price of one unit. */
export function toAmount(amount: number): string {
  return sixDigits.format(amount);
}

// A report has thousands of amounts, and to make a format takes a hundred times as long as to use it.
const cents = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const sixDigits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 6 });
