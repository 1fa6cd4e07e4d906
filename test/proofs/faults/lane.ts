import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { toVersion } from '../../../shared/store/inventoryRecord.ts';
import { openFaultyStage } from '../../conformance/faults/faultyTarget.ts';
import { fixtures } from '../../conformance/fixtures.ts';
import { sendValid } from '../../conformance/operations/suites.ts';
import { type Sending, send } from '../../conformance/target.ts';

export interface LaneRequest extends Sending {
  /** Relative to the base address. */
  readonly path: string;
}

export const json = { 'Content-Type': 'application/json' };
/** Of the entry that the updates change. */
export const changeablePath = `/inventory/${fixtures.changeablePetId}`;

export type Lane = Awaited<ReturnType<typeof openLane>>;

/**
 * A local stage of its own, with its own functions, engine and proxy, in which one cell runs at a time. Lanes are
 * opened one after the other: the functions read the address of their engine from the environment at first.
 */
export async function openLane() {
  const embedded = await startEmbeddedEngine();
  // Each cell judges its answers by itself.
  const { onResponse: _, ...target } = await openFaultyStage(fixtures, async () => embedded);
  for (const id of operationIds) await sendValid(target, id);
  const engine = new DynamoDBClient({ endpoint: embedded.endpoint });
  const keys = defineKeyRegister(engine, 'apiKeys');
  return {
    /** Between the functions and the engine. */
    store: target.store,
    /** The engine itself, without faults. */
    engine,
    /** @returns one with write permission that no function has met */
    async addKey(): Promise<string> {
      return (await keys.create({ name: 'faults', permission: 'write' })).apiKey;
    },
    send: ({ method = 'GET', path, ...sending }: LaneRequest) =>
      send(target, method, path, sending),
    /** The changeable entry as it is stored. */
    async readEntry() {
      const Key = { p: { N: `${fixtures.changeablePetId}` } };
      const get = new GetItemCommand({ TableName: 'inventory', Key, ConsistentRead: true });
      const { Item = {} } = await engine.send(get);
      return { quantity: Number(Item.q?.N), etag: `"${toVersion(Item)}"` };
    },
    close: target.close,
  };
}
