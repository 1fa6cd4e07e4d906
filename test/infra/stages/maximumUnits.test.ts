import { describe, expect, it } from 'vitest';
import { stageNames, stages } from '../../../infra/stages/stages.ts';
import { type TableName, tableNames } from '../../../infra/stages/tables.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { cannedOrders } from '../../bench/canned/cannedRecords.ts';
import {
  toCompactItem,
  toItemSize,
  toPetUnits,
  toReadUnits,
  toRequestUnits,
  toScanUnits,
  toUpdateUnits,
} from '../../bench/canned/requestUnits.ts';
import { findResources } from '../../support/stackTemplates.ts';

const ENTRIES = 100_000;
/** The longest page that a client may ask for. */
const ORDERS = 1_000;
/** A consistent read of an item of at most 4 KB. */
const CONSISTENT = 1;

describe.each(stageNames)('the tables of %s', (stage) => {
  const { throttles, maximumUnitsPerSecond: maximum } = stages[stage].settings;

  it('are bounded as its settings say, in the table itself', () => {
    const built = Object.values(findResources(stage, 'AWS::DynamoDB::Table')).map(
      ({ Properties: { TableName, OnDemandThroughput } }) => [TableName, OnDemandThroughput],
    );
    const wanted = tableNames.map((name) => [
      `petstore-${stage}-${name}`,
      { MaxReadRequestUnits: maximum[name].read, MaxWriteRequestUnits: maximum[name].write },
    ]);
    expect(built.sort()).toEqual(wanted.sort());
  });

  it(`take what the throttles let through at once, with ${ENTRIES} entries`, () => {
    const burst = (id: keyof typeof throttles) => throttles[id].burst;
    const list = toScanUnits(ENTRIES, toCompactItem);
    expect(list).toBeCloseTo(222, 0);
    const orders = toReadUnits(ORDERS * toItemSize(cannedOrders[0] ?? {}));
    const needed: Record<TableName, { read: number; write: number }> = {
      // An update has a read at most, and with an Idempotency-Key it is part of a transaction, which doubles its units.
      inventory: {
        read: burst('listInventory') * list + burst('updateInventory') * CONSISTENT,
        write: burst('updateInventory') * 2 * toUpdateUnits(toCompactItem, 'v'),
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
