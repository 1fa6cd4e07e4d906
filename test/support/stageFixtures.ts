import type { StageSettings } from '../../infra/stages/stageSettings.ts';
import type { Stage } from '../../infra/stages/stages.ts';
import { mapOperations } from '../../shared/contract/operations.ts';

// The tests have their own stages, so that no test depends on the settings of the deployed ones.

const common = {
  logLevel: 'INFO',
  memoryMegabytes: { ...mapOperations(() => 512), listInventory: 1024 },
  firewall: false,
  owner: 'petstore team',
  contact: 'api@petstore.example',
  inventoryEntries: 100_000,
} as const satisfies Partial<StageSettings>;

/** A stage that keeps nothing, raises no alarms and moves to new code at once. */
const staging: Stage = {
  name: 'staging',
  settings: {
    ...common,
    purpose: 'for tests',
    documentationAddress: 'https://docs.staging.petstore.example',
    allowedOrigins: ['*'],
    logRetentionDays: 14,
    raisesAlarms: false,
    protectsData: false,
    throttles: {
      ...mapOperations(() => ({ rate: 50, burst: 100 })),
      listInventory: { rate: 5, burst: 10 },
      adjustInventory: { rate: 20, burst: 40 },
      listOrders: { rate: 5, burst: 10 },
      other: { rate: 20, burst: 40 },
    },
    rollout: 'atOnce',
    tracing: { reservedPerSecond: 1, percent: 0 },
    maximumUnitsPerSecond: {
      inventory: { read: 3_000, write: 2_000 },
      pets: { read: 500, write: 1_000 },
      orders: { read: 500, write: 1_000 },
      requests: { read: 200, write: 500 },
      apiKeys: { read: 1_000, write: 100 },
    },
  },
};

/** A stage that protects its data, raises alarms, lists its origins and moves to new code gradually. */
const production: Stage = {
  name: 'production',
  settings: {
    ...common,
    purpose: 'for tests of what is protected',
    documentationAddress: 'https://docs.petstore.example',
    allowedOrigins: ['https://www.petstore.example'],
    logRetentionDays: 90,
    raisesAlarms: true,
    budget: 'none',
    checkEveryMinutes: 5,
    protectsData: true,
    throttles: {
      ...mapOperations(() => ({ rate: 500, burst: 1000 })),
      listInventory: { rate: 5, burst: 20 },
      adjustInventory: { rate: 200, burst: 400 },
      listOrders: { rate: 50, burst: 100 },
      other: { rate: 100, burst: 200 },
    },
    rollout: 'canary10PercentFor5Minutes',
    tracing: { reservedPerSecond: 0, percent: 1 },
    maximumUnitsPerSecond: {
      inventory: { read: 11_000, write: 12_000 },
      pets: { read: 1_000, write: 1_000 },
      orders: { read: 2_000, write: 1_000 },
      requests: { read: 2_000, write: 4_500 },
      apiKeys: { read: 10_000, write: 100 },
    },
  },
};

export const fixtures = { staging, production } as const;
export type FixtureName = keyof typeof fixtures;
export const fixtureNames = Object.keys(fixtures) as FixtureName[];

/** Settings that `production` lacks or has otherwise: a domain behind a proxy, a firewall, alarms with a receiver. */
export const changedSettings = {
  accountConcurrency: 1000,
  anomalies: { minDollars: 20, notify: ['finance@petstore.example'] },
  allowedOrigins: ['https://www.petstore.example', 'https://shop.petstore.example'],
  alarms: { page: 'arn:aws:sns:eu-west-1:123456789012:pagers', ticket: 'ops@petstore.example' },
  baseAddress: 'https://shop.petstore.example/v1',
  budget: {
    monthlyDollars: 200,
    notify: ['finance@petstore.example', 'ops@petstore.example'],
    actualPercent: [50, 100],
    forecastPercent: [120],
  },
  contact: 'https://petstore.example/help',
  customDomain: {
    name: 'api.petstore.example',
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1f-2e',
  },
  firewall: true,
  firewallRequestsPerAddress: 50_000,
  firewallListsPerClient: 120,
  reservedConcurrency: { listInventory: 50, getInventoryEntry: 0 },
  quietMinutes: 15,
  restoredTables: { orders: 'orders-restored' },
  rollout: 'linear10PercentEveryMinute',
  statusPage: 'https://status.petstore.example',
} as const satisfies Partial<StageSettings>;

export function changeProduction(changes: Partial<StageSettings>): Stage {
  return { ...production, settings: { ...production.settings, ...changes } };
}

/** `production` with every setting changed or left out. */
export const changedStage = changeProduction({
  ...changedSettings,
  region: 'eu-west-1',
  backupRegion: 'eu-central-1',
});
