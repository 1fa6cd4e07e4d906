import type { OperationId } from '../../shared/contract/operations.ts';
import type { OperationSettings, StageSettings, TableAccess } from './stageSettings.ts';
import type { TableName } from './tables.ts';

// The gateway gives up on a buffered response after 29 seconds. Fail before that, and log the reason.
const timeoutSeconds = 28;

export const operationSettings: Readonly<Record<OperationId, OperationSettings>> = {
  listInventory: {
    timeoutSeconds: 120,
    availabilityPercent: 99.9,
    latencyMilliseconds: 3_000,
    access: { inventory: ['dynamodb:Scan', 'dynamodb:GetItem', 'dynamodb:BatchGetItem'] },
  },
  getInventoryEntry: {
    timeoutSeconds,
    availabilityPercent: 99.9,
    latencyMilliseconds: 2_000,
    access: { inventory: ['dynamodb:GetItem'] },
  },
  updateInventory: {
    timeoutSeconds,
    availabilityPercent: 99.9,
    latencyMilliseconds: 3_000,
    access: {
      inventory: ['dynamodb:UpdateItem', 'dynamodb:GetItem'],
      // Release 2.0 stores requests with an Idempotency-Key there. It runs under this role during a canary of 3.0 and
      // after a rollback. Remove it in 3.1.
      requests: ['dynamodb:PutItem', 'dynamodb:GetItem'],
    },
  },
  adjustInventory: {
    timeoutSeconds,
    availabilityPercent: 99.9,
    latencyMilliseconds: 3_000,
    access: {
      inventory: ['dynamodb:UpdateItem', 'dynamodb:GetItem', 'dynamodb:BatchGetItem'],
      requests: ['dynamodb:PutItem'],
    },
  },
  getPet: {
    timeoutSeconds,
    availabilityPercent: 99.9,
    latencyMilliseconds: 2_000,
    access: { pets: ['dynamodb:GetItem'] },
  },
  listOrders: {
    timeoutSeconds,
    availabilityPercent: 99.9,
    latencyMilliseconds: 3_000,
    access: { orders: ['dynamodb:Query'] },
  },
};

/** All tables that an operation's function uses, API keys included, with its actions there. */
export function findTableAccess(operationId: OperationId): TableAccess {
  return { ...operationSettings[operationId].access, apiKeys: ['dynamodb:GetItem'] };
}

export function listUsedTables(operationId: OperationId): TableName[] {
  return Object.keys(findTableAccess(operationId)) as TableName[];
}

// Reading one item or page is mostly waiting, which is billed by memory. With half of 512 MB, a cold start takes some
// 30 ms longer, and a million requests cost one or two cents less. With twice as much, it takes 15 ms less, and they
// cost three or four cents more. A long list needs CPU: with twice the memory it takes half the time, at the same cost.
const memoryMegabytes = {
  listInventory: 1024,
  getInventoryEntry: 512,
  updateInventory: 512,
  adjustInventory: 512,
  getPet: 512,
  listOrders: 512,
};

// Examples, used by both stages. Set them before the first deployment, and production's allowedOrigins and budget too.
const documentationAddress = 'https://docs.petstore.example';
const contact = 'api@petstore.example';

const settings = {
  staging: {
    purpose: 'for testing, with its own data',
    documentationAddress,
    contact,
    allowedOrigins: ['*'],
    logLevel: 'INFO',
    logRetentionDays: 14,
    raisesAlarms: false,
    protectsData: false,
    throttles: {
      listInventory: { rate: 5, burst: 10 },
      getInventoryEntry: { rate: 50, burst: 100 },
      updateInventory: { rate: 50, burst: 100 },
      adjustInventory: { rate: 20, burst: 40 },
      getPet: { rate: 50, burst: 100 },
      listOrders: { rate: 5, burst: 10 },
      other: { rate: 20, burst: 40 },
    },
    memoryMegabytes,
    rollout: 'atOnce',
    firewall: false,
    owner: 'petstore team',
    tracing: { reservedPerSecond: 1, percent: 0 },
    inventoryEntries: 100_000,
    maximumUnitsPerSecond: {
      inventory: { read: 3_000, write: 2_000 },
      pets: { read: 500, write: 1_000 },
      orders: { read: 500, write: 1_000 },
      requests: { read: 200, write: 500 },
      apiKeys: { read: 500, write: 100 },
    },
  },
  production: {
    purpose: 'the shop itself',
    documentationAddress,
    contact,
    allowedOrigins: ['https://www.petstore.example'],
    logLevel: 'INFO',
    logRetentionDays: 90,
    raisesAlarms: true,
    checkEveryMinutes: 5,
    protectsData: true,
    // A list reads a whole table, so it is by far the most expensive request. It may run for half a minute, even if its
    // client has left: at five a second, 150 run at once. Before you raise this rate, set accountConcurrency, which
    // bounds them.
    throttles: {
      listInventory: { rate: 5, burst: 20 },
      getInventoryEntry: { rate: 500, burst: 1000 },
      updateInventory: { rate: 500, burst: 1000 },
      adjustInventory: { rate: 200, burst: 400 },
      getPet: { rate: 500, burst: 1000 },
      listOrders: { rate: 50, burst: 100 },
      other: { rate: 100, burst: 200 },
    },
    memoryMegabytes,
    rollout: 'canary10PercentFor5Minutes',
    // The throttles are shared by all clients, and count before a key is checked.
    firewall: true,
    owner: 'petstore team',
    tracing: { reservedPerSecond: 0, percent: 1 },
    // Above the month that `npx petstore costs` prints, which so sends nothing. An example address: set finance's.
    budget: {
      monthlyDollars: 80,
      notify: ['finance@petstore.example'],
      actualPercent: [80, 100, 200],
      forecastPercent: [100],
    },
    inventoryEntries: 100_000,
    // Enough for all bursts at once with 100,000 entries and carts of ten pets, and for an import meanwhile.
    maximumUnitsPerSecond: {
      inventory: { read: 11_000, write: 12_000 },
      pets: { read: 1_000, write: 1_000 },
      orders: { read: 2_000, write: 1_000 },
      requests: { read: 2_000, write: 4_500 },
      apiKeys: { read: 4_000, write: 100 },
    },
  },
} as const satisfies Record<string, StageSettings>;

/** Also the tests' own stages, so that a team can remove any of its own. */
export type StageName = keyof typeof settings | 'staging' | 'production';
export const stageNames = Object.keys(settings) as StageName[];

export interface Stage {
  readonly name: StageName;
  readonly settings: StageSettings;
}

export const stages = Object.fromEntries(
  Object.entries<StageSettings>(settings).map(([name, own]) => [name, { name, settings: own }]),
) as Readonly<Record<StageName, Stage>>;

/** In the order that suits clients: stages with real data come first. */
export const stagesForClients = Object.values(stages).sort(
  (one, other) => Number(other.settings.protectsData) - Number(one.settings.protectsData),
) as readonly Stage[] as readonly [Stage, ...Stage[]];

/** For messages that name the file to edit. */
export const stagesFile = 'infra/stages/stages.ts';
