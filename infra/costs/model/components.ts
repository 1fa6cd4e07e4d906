import type { PriceTable } from '../prices/priceTable.ts';
import { toFirstPrice } from '../prices/tieredPrice.ts';
import { type BilledUnits, sumLogBytes } from '../units/answerUnits.ts';

/** What a request's cost is made of. */
export const components = [
  'gateway',
  'lambda',
  'readUnits',
  'writeUnits',
  'transfer',
  'logs',
  'tracing',
  'firewall',
] as const;
export type Component = (typeof components)[number];
export type Dollars = Readonly<Record<Component, number>>;

/** In the words of tables. */
export const componentLabels: Readonly<Record<Component, string>> = {
  gateway: 'gateway',
  lambda: 'Lambda',
  readUnits: 'reads',
  writeUnits: 'writes',
  transfer: 'transfer',
  logs: 'logs',
  tracing: 'traces',
  firewall: 'firewall',
};

/** What of a stage's settings makes a request dearer or cheaper. */
export interface RequestPricing {
  readonly prices: PriceTable;
  /** Of a hundred requests, as many as X-Ray keeps a trace of. */
  readonly tracedPercent: number;
  readonly hasFirewall: boolean;
}

/** Of a streamed answer, what Lambda sends without a charge: https://aws.amazon.com/lambda/pricing/ */
export const FREE_STREAMED_BYTES = 6 * 2 ** 20;
const GIGABYTE = 2 ** 30;

/** What a million such requests cost, by the first step of each price. */
export function toDollarsPerMillion(
  units: BilledUnits,
  { prices, tracedPercent, hasFirewall }: RequestPricing,
): Dollars {
  const isAccepted = units.gatewayRequests > 0;
  return {
    gateway: units.gatewayRequests * toFirstPrice(prices.gatewayRequests),
    lambda: toLambdaDollars(units, prices),
    readUnits: units.readUnits * prices.dynamoDbPerMillionReadUnits,
    writeUnits: units.writeUnits * prices.dynamoDbPerMillionWriteUnits,
    transfer: units.responseBytes * toFirstPrice(prices.transferBytes),
    logs: (sumLogBytes(units.logBytes) / GIGABYTE) * 1e6 * prices.logsPerGigabyte,
    tracing: isAccepted ? (tracedPercent / 100) * prices.tracesPerMillion : 0,
    firewall: hasFirewall ? prices.firewallPerMillionRequests : 0,
  };
}

function toLambdaDollars(units: BilledUnits, prices: PriceTable): number {
  if (units.functionCalls === 0) return 0;
  const gigabyteSeconds = (units.memoryMegabytes / 1024) * (units.billedMilliseconds / 1000);
  const streamed = Math.max(0, units.responseBytes - FREE_STREAMED_BYTES) / GIGABYTE;
  return (
    units.functionCalls * prices.lambdaPerMillionRequests +
    1e6 *
      (gigabyteSeconds * prices.lambdaPerGigabyteSecond +
        streamed * prices.lambdaPerStreamedGigabyte)
  );
}

/** All components together. */
export function sumDollars(dollars: Dollars): number {
  return components.reduce((sum, component) => sum + dollars[component], 0);
}

/** Component by component. */
export function addDollars(each: readonly Dollars[]): Dollars {
  const sum = (component: Component) => each.reduce((total, one) => total + one[component], 0);
  return Object.fromEntries(components.map((one) => [one, sum(one)])) as Record<Component, number>;
}

/** Component by component, so many times as much. */
export function scaleDollars(dollars: Dollars, factor: number): Dollars {
  return Object.fromEntries(components.map((one) => [one, dollars[one] * factor])) as Record<
    Component,
    number
  >;
}
