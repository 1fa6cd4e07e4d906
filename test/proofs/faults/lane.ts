import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { toVersion } from '../../../shared/store/inventoryRecord.ts';
import { fixtures } from '../../conformance/fixtures.ts';
import { type ExactRequest, type ExactResponse, exactFetch } from '../../support/exactFetch.ts';
import { startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';

export interface LaneRequest extends ExactRequest {
  /** Relative to the base address. */
  readonly path: string;
  readonly apiKey: string;
}

export const json = { 'Content-Type': 'application/json' };
/** Of the entry that the updates change. */
export const changeablePath = `/inventory/${fixtures.changeablePetId}`;

export type Lane = Awaited<ReturnType<typeof openLane>>;

/**
 * A local stage of its own, with its own functions, engine and proxy, in which one cell runs at a time. Lanes are
 * opened one after the other: the functions read the address of their engine from the environment at first.
 */
export async function openLane(name: number) {
  const embedded = await startEmbeddedEngine();
  const store = await startFaultyEndpoint(embedded.endpoint);
  const stage = await startLocalStage({
    port: 0,
    data: fixtures,
    startEngine: async () => ({ endpoint: store.endpoint, close: async () => {} }),
    // By a name of its own a module is loaded anew, with a client and a cache of keys.
    loadHandler: (id) => import(`../../../functions/${id}.ts?lane=${name}`),
  });
  const engine = new DynamoDBClient({ endpoint: embedded.endpoint });
  const keys = defineKeyRegister(new DynamoDBClient({ endpoint: embedded.endpoint }), 'apiKeys');
  const lane = {
    /** Between the functions and the engine. */
    store,
    /** The engine itself, without faults. */
    engine,
    /** @returns one with write permission that no function has met */
    async addKey(): Promise<string> {
      return (await keys.create({ name: 'faults', permission: 'write' })).apiKey;
    },
    send({ path, apiKey, headers, ...request }: LaneRequest): Promise<ExactResponse> {
      const credentials = { Authorization: `Bearer ${apiKey}` };
      return exactFetch(`${stage.baseUrl}${path}`, {
        ...request,
        headers: { ...credentials, ...headers },
      });
    },
    /** The changeable entry as it is stored. */
    async readEntry() {
      const Key = { p: { N: `${fixtures.changeablePetId}` } };
      const get = new GetItemCommand({ TableName: 'inventory', Key, ConsistentRead: true });
      const { Item = {} } = await engine.send(get);
      return { quantity: Number(Item.q?.N), etag: `"${toVersion(Item)}"` };
    },
    async close() {
      await stage.close();
      await store.close();
      await embedded.close();
    },
  };
  const { apiKey } = stage;
  const update = { headers: json, body: '{"quantity":1}' };
  await lane.send({ apiKey, path: `/inventory?petId=${fixtures.changeablePetId}` });
  await lane.send({ apiKey, path: '/pets/1' });
  await lane.send({ apiKey, path: '/store/orders' });
  await lane.send({ apiKey, method: 'PATCH', path: changeablePath, ...update });
  return lane;
}
