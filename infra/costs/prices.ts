import { existsSync, readFileSync } from 'node:fs';

/** The components of a bill, by their names in tables. */
export const componentLabels = {
  gateway: 'gateway',
  lambda: 'Lambda',
  readUnits: 'reads',
  writeUnits: 'writes',
  transfer: 'transfer',
  logs: 'logs',
  storedLogs: 'stored logs',
  tracing: 'traces',
  firewall: 'firewall',
  alarms: 'alarms',
  metrics: 'metrics',
  encryptionKeys: 'encryption key',
  storage: 'storage',
} as const;
type Component = keyof typeof componentLabels;
export const components = Object.keys(componentLabels) as Component[];

export type Dollars = Readonly<Record<Component, number>>;

/** What AWS counts, with its component of the bill and its name. A GB is 2^30 bytes. */
export const usageParts = {
  gatewayRequests: ['gateway', 'requests of the gateway'],
  functionCalls: ['lambda', 'calls of functions'],
  gigabyteSeconds: ['lambda', 'GB-seconds of functions'],
  streamedGigabytes: ['lambda', 'streamed GB past 6 MB'],
  readUnits: ['readUnits', 'read units'],
  writeUnits: ['writeUnits', 'write units'],
  sentGigabytes: ['transfer', 'GB sent'],
  loggedGigabytes: ['logs', 'GB logged'],
  storedLogGigabytes: ['storedLogs', 'GB of kept logs'],
  traces: ['tracing', 'traces'],
  firewallRequests: ['firewall', 'requests through the firewall'],
  // Fixed per month. An alarm is billed for each of its metrics.
  alarmMetrics: ['alarms', 'metrics with an alarm'],
  compositeAlarms: ['alarms', 'composite alarms'],
  customMetrics: ['metrics', 'custom metrics'],
  encryptionKeys: ['encryptionKeys', 'encryption keys'],
  firewalls: ['firewall', 'firewalls'],
  firewallRules: ['firewall', 'rules of the firewall'],
  storedGigabytes: ['storage', 'GB in tables'],
  backedUpGigabytes: ['storage', 'GB of backups'],
} as const satisfies Record<string, readonly [component: Component, name: string]>;

export type UsageKind = keyof typeof usageParts;
export const usageKinds = Object.keys(usageParts) as UsageKind[];

/** Dollars per unit, or steps in rising order. Each step ends at a number of units a month; the last has no end. */
export type Price = number | readonly { readonly upTo?: number; readonly dollars: number }[];

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
 * In US dollars, keyed by what AWS counts. Without tax, and without monthly free allowances, since other services of the
 * account may use them up. Logs are queried by the commands, never by the service.
 */
export type Prices = Readonly<Record<UsageKind | 'queriedGigabytes', Price>>;

/** The region of a stage whose settings and environment name none. */
export const usualRegion = 'us-east-1';

/** @throws {Error} when nobody has looked up the prices of the region, or not all of them */
export function readPrices(region = usualRegion, file = toPriceFile(region)) {
  const remedy = `npx petstore costs prices --region ${region} reads them from AWS.`;
  if (!existsSync(file)) throw new Error(`The prices of ${region} are not known: ${remedy}`);
  // `asOf` is the day on which these prices were looked up.
  const table: { readonly asOf: string; readonly prices: Prices } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const missing = usageKinds.find((kind) => table.prices[kind] === undefined);
  if (missing) throw new Error(`The prices of ${region} have no ${missing}: ${remedy}`);
  return table;
}

export function toPriceFile(region: string): URL {
  return new URL(`prices/${region}.json`, import.meta.url);
}

export const allowancesFile = 'infra/costs/allowances.json';

/** What AWS does not bill each month, without end. */
export function readAllowances(): readonly Allowance[] {
  return JSON.parse(readFileSync(new URL('allowances.json', import.meta.url), 'utf8')).allowances;
}

export interface Allowance {
  readonly kind: keyof Prices;
  readonly service: string;
  readonly usageType: string;
  readonly amount: number;
  readonly unit: string;
  /** Whether each region has its own. */
  readonly isPerRegion?: boolean;
  /** AWS's page. */
  readonly source: string;
}
