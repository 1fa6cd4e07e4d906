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
