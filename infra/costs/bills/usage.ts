import { perUnit, toUnitDollars, type UsageKind } from '../prices.ts';
import type { AnswerUnits, BilledUnits } from '../units/answerUnits.ts';

/** What a bill is made of, in the words of tables. */
export const componentLabels = {
  gateway: 'gateway',
  lambda: 'Lambda',
  readUnits: 'reads',
  writeUnits: 'writes',
  transfer: 'transfer',
  logs: 'logs',
  tracing: 'traces',
  firewall: 'firewall',
  alarms: 'alarms',
  metrics: 'metrics',
  encryptionKeys: 'encryption key',
  storage: 'storage',
} as const;
type Component = keyof typeof componentLabels;
export const components = Object.keys(componentLabels) as Component[];

/** Dollars of each component. */
export type Dollars = Readonly<Record<Component, number>>;

/** Each thing that AWS counts, and the component that it is billed under. GB are of 2^30 bytes. */
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
  // By the month, whether anybody calls or not. An alarm is billed for each metric that it looks at.
  alarmMetrics: 'alarms',
  customMetrics: 'metrics',
  encryptionKeys: 'encryptionKeys',
  firewalls: 'firewall',
  firewallRules: 'firewall',
  storedGigabytes: 'storage',
  backedUpGigabytes: 'storage',
} as const satisfies Record<UsageKind, Component>;

export const usageKinds = Object.keys(componentOf) as UsageKind[];

/** What was used, by whomever and however much. */
export type Usage = Readonly<Partial<Record<UsageKind, number>>>;
/** Dollars for one of each. */
type Rates = Readonly<Record<UsageKind, number>>;

/** What makes a request cost more or less. */
export interface RequestPricing {
  /** What each answer is billed by. */
  readonly units: readonly AnswerUnits[];
  /** Of a hundred requests, as many as X-Ray keeps a trace of. */
  readonly tracedPercent: number;
  readonly hasFirewall: boolean;
}

/** Of a streamed answer, what Lambda sends without a charge: https://aws.amazon.com/lambda/pricing/ */
export const FREE_STREAMED_BYTES = 6 * 2 ** 20;
export const GIGABYTE = 2 ** 30;

/** What so many equal requests use. */
export function toRequestUsage(
  units: BilledUnits,
  { tracedPercent, hasFirewall }: RequestPricing,
  requests = 1,
): Usage {
  const { functionCalls, gatewayRequests, logBytes, responseBytes } = units;
  const streamedBytes = Math.max(0, responseBytes - FREE_STREAMED_BYTES);
  const one: Usage = {
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
  return toRecord(usageKinds, (kind) => (one[kind] ?? 0) * requests);
}

/**
 * Prices as dollars for one of each.
 * @param month all that the account uses in the month, by which some prices fall; the first step where it is left out
 */
export function toRates(month: Usage = {}): Rates {
  return toRecord(usageKinds, (kind) => toUnitDollars(perUnit[kind], month[kind] ?? 0));
}

/** Units times prices: every amount is made here. */
export function toDollars(usage: Usage, rates: Rates): Dollars {
  const dollars = toRecord(components, () => 0);
  for (const kind of usageKinds) dollars[componentOf[kind]] += (usage[kind] ?? 0) * rates[kind];
  return dollars;
}

/** What a million such requests cost, by the first step of each price. */
export function toDollarsPerMillion(units: BilledUnits, pricing: RequestPricing): Dollars {
  return toDollars(toRequestUsage(units, pricing, 1e6), toRates());
}

export function sumUsage(each: readonly Usage[]): Required<Usage> {
  return toRecord(usageKinds, (kind) => each.reduce((sum, one) => sum + (one[kind] ?? 0), 0));
}

/** All components together. */
export function sumDollars(dollars: Readonly<Record<string, number>>): number {
  return Object.values(dollars).reduce((sum, each) => sum + each, 0);
}

function toRecord<Key extends string>(
  keys: readonly Key[],
  toValue: (key: Key) => number,
): Record<Key, number> {
  return Object.fromEntries(keys.map((key) => [key, toValue(key)])) as Record<Key, number>;
}
