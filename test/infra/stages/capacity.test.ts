import { describe, expect, it } from 'vitest';
import { findReservedConcurrency } from '../../../infra/stages/concurrency.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { listUsedTables } from '../../../infra/stages/stages.ts';
import { type TableName, tableNames } from '../../../infra/stages/tables.ts';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { MAX_ADJUSTMENTS } from '../../../shared/contract/values.ts';
import {
  cannedOrders,
  toCompactItem,
  toItemSize,
  toReadUnits,
} from '../../bench/canned/records.ts';
import { fixtures } from '../../support/stageFixtures.ts';

const { settings } = fixtures.production;

const reserve = (changed: Partial<StageSettings>, id: OperationId = 'listInventory') =>
  findReservedConcurrency({ ...settings, ...changed }, id);

describe('of the account’s concurrency', () => {
  it.each([
    // Unknown, or that of a new account: any reservation fails the deployment.
    [{}, undefined],
    [{ accountConcurrency: 10 }, undefined],
    [{ accountConcurrency: 123 }, undefined],
    [{ accountConcurrency: 124 }, 24],
    [{ accountConcurrency: 1000 }, 200],
    [{ accountConcurrency: 1000, reservedConcurrency: { updateInventory: 700 } }, 200],
    [{ accountConcurrency: 1000, reservedConcurrency: { updateInventory: 701 } }, undefined],
    [{ accountConcurrency: 1000, reservedConcurrency: { listInventory: 7 } }, 7],
    [{ reservedConcurrency: { listInventory: 0 } }, 0],
  ] satisfies [Partial<StageSettings>, unknown][])(
    'with %j, lists may take %s',
    (changed, reserved) => expect(reserve(changed)).toBe(reserved),
  );

  it('nothing is reserved for quick operations, unless the settings say so', () => {
    expect(reserve({ accountConcurrency: 1000 }, 'updateInventory')).toBeUndefined();
    expect(reserve({ reservedConcurrency: { updateInventory: 0 } }, 'updateInventory')).toBe(0);
  });
});

it.each(Object.values(fixtures))(
  'the rate of $name alone bounds the concurrency of abandoned lists',
  (stage) => {
    const longestSeconds = 29;
    expect(stage.settings.throttles.listInventory.rate * longestSeconds).toBeLessThan(1_000 / 3);
  },
);

/** The longest page that a client may request. */
const ORDERS = 1_000;

/** A consistent read of an item of at most 4 KB. */
const CONSISTENT = 1;

/** A read of such an item that may be a moment old, and a write. */
const EVENTUAL = 0.5;
const WRITTEN = 1;

/** A write of such an item in a transaction. */
const TRANSACTED = 2;

/** Those whose throttles and tables the tests' stages fit together; a further one has their default. */
const fitted: readonly string[] = [
  ...['listInventory', 'getInventoryEntry', 'updateInventory', 'adjustInventory', 'listOrders'],
  'getPet',
];

/** The units of all operations that use a table. */
function sumOf(table: TableName, toUnits: (id: OperationId) => number): number {
  const users = operationIds.filter(
    (id) => fitted.includes(id) && listUsedTables(id).includes(table),
  );
  return users.reduce((sum, id) => sum + toUnits(id), 0);
}

it.each(Object.values(fixtures))(
  'the tables of $name can serve a burst within the throttles, with as many entries as planned',
  ({ settings }) => {
    const { throttles, inventoryEntries, maximumUnitsPerSecond: maximum } = settings;
    const burst = (id: keyof typeof throttles) => throttles[id].burst;
    // Of entries that were never updated.
    const list = toReadUnits(inventoryEntries * toItemSize(toCompactItem(0)));
    const orders = toReadUnits(ORDERS * toItemSize(cannedOrders[0] ?? {}));
    const needed: Record<TableName, { read: number; write: number }> = {
      // An update has at most one read.
      inventory: {
        read:
          burst('listInventory') * list +
          burst('getInventoryEntry') * CONSISTENT +
          burst('updateInventory') * CONSISTENT +
          burst('adjustInventory') * CONSISTENT * MAX_ADJUSTMENTS,
        write:
          burst('updateInventory') * WRITTEN +
          burst('adjustInventory') * TRANSACTED * MAX_ADJUSTMENTS,
      },
      pets: {
        read: sumOf('pets', (id) => burst(id) * EVENTUAL),
        write: 0,
      },
      orders: { read: burst('listOrders') * orders, write: 0 },
      // A refusal is stored after its transaction was cancelled.
      requests: { read: 0, write: burst('adjustInventory') * (TRANSACTED + 1) },
      // Keys in no cache, as when somebody tries keys.
      apiKeys: {
        read: sumOf('apiKeys', (id) => burst(id) * CONSISTENT),
        write: 0,
      },
    };
    for (const name of tableNames) {
      expect(maximum[name].read, name).toBeGreaterThanOrEqual(needed[name].read);
      expect(maximum[name].write, name).toBeGreaterThanOrEqual(needed[name].write);
    }
  },
);
