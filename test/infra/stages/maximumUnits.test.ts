import { describe, expect, it, test } from 'vitest';
import { stageNames, stages } from '../../../infra/stages/stages.ts';
import { type TableName, tableNames } from '../../../infra/stages/tables.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { cannedOrders, toCompactItem } from '../../bench/canned/cannedRecords.ts';
import {
  toItemSize,
  toPetUnits,
  toReadUnits,
  toRequestUnits,
  toScanUnits,
  toUpdateUnits,
} from '../../bench/canned/requestUnits.ts';

/** The longest page that a client may ask for. */
const ORDERS = 1_000;
/** A consistent read of an item of at most 4 KB. */
const CONSISTENT = 1;

describe.each(stageNames)('the tables of %s', (stage) => {
  const { throttles, inventoryEntries, maximumUnitsPerSecond: maximum } = stages[stage].settings;

  it('take what the throttles let through at once, with as many entries as they are to bear', () => {
    const burst = (id: keyof typeof throttles) => throttles[id].burst;
    const list = toScanUnits(inventoryEntries, toCompactItem);
    const orders = toReadUnits(ORDERS * toItemSize(cannedOrders[0] ?? {}));
    const needed: Record<TableName, { read: number; write: number }> = {
      // An update has a read at most, and with an Idempotency-Key it is part of a transaction, which doubles its units.
      inventory: {
        read: burst('listInventory') * list + burst('updateInventory') * CONSISTENT,
        write: burst('updateInventory') * 2 * toUpdateUnits(),
      },
      pets: { read: burst('getPet') * toPetUnits(), write: 0 },
      orders: { read: burst('listOrders') * orders, write: 0 },
      requests: { read: 0, write: burst('updateInventory') * toRequestUnits() },
      // Keys that no container knows, as when somebody tries some.
      apiKeys: {
        read: operationIds.reduce((sum, id) => sum + burst(id) * CONSISTENT, 0),
        write: 0,
      },
    };
    for (const name of tableNames) {
      expect(maximum[name].read, name).toBeGreaterThanOrEqual(needed[name].read);
      expect(maximum[name].write, name).toBeGreaterThanOrEqual(needed[name].write);
    }
  });
});

test('a list of 100,000 entries takes 222 units', () => {
  expect(toScanUnits(100_000, toCompactItem)).toBeCloseTo(222, 0);
});
