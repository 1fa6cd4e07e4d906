import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { defineKeyRegister } from '../../../infra/cli/keyRegister.ts';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
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
/** The path of the entry that the updates change. */
export const changeablePath = `/inventory/${fixtures.changeablePetId}`;

export type Lane = Awaited<ReturnType<typeof openLane>>;

/**
 * A local stage with its own functions, engine and proxy, which runs one cell at a time. Open lanes in sequence: the
 * functions read the address of their engine from the environment when they start.
 */
export async function openLane() {
  const embedded = await startEmbeddedEngine();
  // Each cell checks its own responses.
  const { onResponse: _, ...target } = await openFaultyStage(fixtures, async () => embedded);
  for (const id of operationIds) await sendValid(target, id);
  const engine = new DynamoDBClient({ endpoint: embedded.endpoint });
  const keys = defineKeyRegister(engine, 'apiKeys');
  return {
    /** The proxy between the functions and the engine. */
    store: target.store,
    /** The engine without faults. */
    engine,
    /** @returns a key with write permission that no function has seen */
    async addKey(): Promise<string> {
      return (await keys.create({ name: 'faults', permission: 'write' })).apiKey;
    },
    send: ({ method = 'GET', path, ...sending }: LaneRequest) =>
      send(target, method, path, sending),
    /** The changeable entry as stored. */
    async readEntry() {
      const Key = { p: { N: `${fixtures.changeablePetId}` } };
      const get = new GetItemCommand({ TableName: 'inventory', Key, ConsistentRead: true });
      const { Item = {} } = await engine.send(get);
      return { quantity: Number(Item.q?.N), etag: `"${toVersion(Item)}"` };
    },
    close: target.close,
  };
}
