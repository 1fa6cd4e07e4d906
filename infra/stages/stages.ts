import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import type { OperationSettings, StageSettings, TableAccess } from './stageSettings.ts';
import type { TableName } from './tables.ts';

// The gateway gives up on a buffered answer after 29 seconds: fail first, and say why in the log.
const timeoutSeconds = 28;

export const operationSettings: Readonly<Record<OperationId, OperationSettings>> = {
  listInventory: {
    timeoutSeconds: 120,
    availabilityPercent: 99.9,
    latencyMilliseconds: 3_000,
    access: { inventory: ['dynamodb:Scan', 'dynamodb:GetItem', 'dynamodb:BatchGetItem'] },
  },
  updateInventory: {
    timeoutSeconds,
    availabilityPercent: 99.9,
    latencyMilliseconds: 3_000,
    access: {
      inventory: ['dynamodb:UpdateItem', 'dynamodb:GetItem'],
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

/** All tables that an operation's function uses, the API keys included, with what it may do there. */
export function toTableAccess(operationId: OperationId): TableAccess {
  return { ...operationSettings[operationId].access, apiKeys: ['dynamodb:GetItem'] };
}

/** The names of those tables. */
export function toUsedTables(operationId: OperationId): TableName[] {
  return Object.keys(toTableAccess(operationId)) as TableName[];
}

/** Every kind of call that the functions make to a table. */
export function toTableCalls(table: TableName): string[] {
  const transaction = 'TransactWriteItems';
  // Written together with its entry, and by nothing else.
  if (table === 'requests') return [transaction];
  const actions = operationIds.flatMap((id) => toTableAccess(id)[table] ?? []);
  const calls = [...new Set(actions)].map((action) => action.replace('dynamodb:', ''));
  return table === 'inventory' ? [...calls, transaction] : calls;
}

// One item or page is mostly waiting, which costs by the memory held. With half of 512 MB a cold start takes some
// 30 ms longer and saves one or two cents a million requests; with twice as much it takes 15 ms less and costs three
// or four more. A long list is work for the CPU: twice the memory takes half the time, at the same cost.
const memoryMegabytes = {
  listInventory: 1024,
  updateInventory: 512,
  getPet: 512,
  listOrders: 512,
};

// Both stages link to it. An example: set it before the first deployment of either, and production's allowedOrigins.
const documentationAddress = 'https://docs.petstore.example';

const settings = {
  staging: {
    purpose: 'for trying things out, with data of its own',
    documentationAddress,
    allowedOrigins: ['*'],
    logLevel: 'INFO',
    logRetentionDays: 14,
    raisesAlarms: false,
    protectsData: false,
    throttles: {
      listInventory: { rate: 5, burst: 10 },
      updateInventory: { rate: 50, burst: 100 },
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
    worstMonthDollars: 15_500,
    maxIncreaseDollars: 5,
    maxIncreasePercent: 10,
    maximumUnitsPerSecond: {
      inventory: { read: 3_000, write: 1_000 },
      pets: { read: 500, write: 1_000 },
      orders: { read: 500, write: 1_000 },
      requests: { read: 100, write: 500 },
      apiKeys: { read: 500, write: 100 },
    },
  },
  production: {
    purpose: 'the shop itself',
    documentationAddress,
    allowedOrigins: ['https://www.petstore.example'],
    logLevel: 'INFO',
    logRetentionDays: 90,
    raisesAlarms: true,
    checkEveryMinutes: 5,
    protectsData: true,
    // A list reads a whole table, so it is the most expensive request by far, and may run for half a minute, also
    // when nobody waits for it any more: at five a second, 150 at once. Set accountConcurrency, which bounds
    // them, before you raise it.
    throttles: {
      listInventory: { rate: 5, burst: 20 },
      updateInventory: { rate: 500, burst: 1000 },
      getPet: { rate: 500, burst: 1000 },
      listOrders: { rate: 50, burst: 100 },
      other: { rate: 100, burst: 200 },
    },
    memoryMegabytes,
    rollout: 'canary10PercentFor5Minutes',
    // Nothing that costs while idle: every request needs a key, and the throttles bound a flood's bill.
    firewall: false,
    owner: 'petstore team',
    tracing: { reservedPerSecond: 0, percent: 1 },
    inventoryEntries: 100_000,
    worstMonthDollars: 28_000,
    maxIncreaseDollars: 5,
    maxIncreasePercent: 10,
    // Every throttle's burst at once, with 100,000 entries, and some room to import beside it.
    maximumUnitsPerSecond: {
      inventory: { read: 6_000, write: 3_000 },
      pets: { read: 1_000, write: 1_000 },
      orders: { read: 2_000, write: 1_000 },
      requests: { read: 100, write: 2_500 },
      apiKeys: { read: 3_000, write: 100 },
    },
  },
} as const satisfies Record<string, StageSettings>;

export type StageName = keyof typeof settings;
export const stageNames = Object.keys(settings) as StageName[];

/** A deployment of the service. */
export interface Stage {
  readonly name: StageName;
  readonly settings: StageSettings;
}

export const stages = Object.fromEntries(
  stageNames.map((name): [StageName, Stage] => [name, { name, settings: settings[name] }]),
) as Readonly<Record<StageName, Stage>>;

/** In the order in which clients look for them: those whose data is real come first. */
export const stagesForClients: readonly Stage[] = Object.values(stages).sort(
  (one, other) => Number(other.settings.protectsData) - Number(one.settings.protectsData),
);

/** Where the settings stand, for messages that send their reader there. */
export const stagesFile = 'infra/stages/stages.ts';
