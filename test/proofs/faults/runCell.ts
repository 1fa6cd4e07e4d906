import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { decode } from '../../../infra/docs/openapi/responseProblems.ts';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import type { LoadModule } from '../../../infra/local/localStage.ts';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { readVersion, toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { defineFreshFunctions, openFaultyStage } from '../../conformance/localTarget.ts';
import { sendValid } from '../../conformance/operations/suites.ts';
import { fixtures, type Sending, send } from '../../conformance/target.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { refusals } from '../../support/faults/faults.ts';
import { defineRuntimes } from '../../support/lambda/runtimes.ts';
import { type Cell, type CellResult, toAllowed } from './cells.ts';

export interface LaneRequest extends Sending {
  readonly path: string;
}

const json = { 'Content-Type': 'application/json' };
/** Entries that are available. */
const available = [9223372036854775806n, 3n] as const;

export type Lane = Awaited<ReturnType<typeof openLane>>;

/**
 * A local stage with its own functions, engine and proxy, which runs one cell at a time. Open lanes in sequence: the
 * functions read the address of their engine from the environment when they start.
 */
export async function openLane(isDeployed = false) {
  const embedded = await startEmbeddedEngine();
  const scratch = mkdtempSync(join(tmpdir(), 'petstore-lane-'));
  const runtimes = defineRuntimes((name) => join(scratch, name));
  const loadSource = defineFreshFunctions();
  const load: LoadModule = (id) =>
    isDeployed && operations[id].streamed ? runtimes.load(id) : loadSource(id);
  // Each cell checks its own responses.
  const { onResponse: _, ...target } = await openFaultyStage(
    fixtures,
    async () => embedded,
    undefined,
    () => load,
  );
  for (const id of operationIds) await sendValid(target, id);
  const engine = new DynamoDBClient({ endpoint: embedded.endpoint });
  const keys = defineKeyRegister(engine, 'apiKeys');
  return {
    /** The proxy between the functions and the engine. */
    store: target.store,
    engine,
    /** @returns a key with write permission that no function has seen */
    async addKey(): Promise<string> {
      return (await keys.create({ name: 'faults', permission: 'write' })).apiKey;
    },
    send: ({ method = 'GET', path, ...sending }: LaneRequest) =>
      send(target, method, path, sending),
    async readEntry(petId = fixtures.changeablePetId) {
      const Key = { p: { N: `${petId}` } };
      const get = new GetItemCommand({ TableName: 'inventory', Key, ConsistentRead: true });
      const { Item = {} } = await engine.send(get);
      return { quantity: Number(Item.q?.N), etag: `"${readVersion(Item)}"` };
    },
    /** Whether a deployed function's process has ended, which is a crash on Lambda. */
    hasCrashed: () => [...runtimes.started.values()].some(({ hasEnded }) => hasEnded()),
    async close(): Promise<void> {
      await target.close();
      await runtimes.close();
      rmSync(scratch, { recursive: true });
    },
  };
}

/**
 * If all its attempts fail, a call takes 10 or 20 of the 500 retry tokens that the SDK gives a client. Without
 * tokens the SDK retries nothing.
 */
const MAX_CELLS_OF_A_LANE = 40;

/** Runs the cells on several lanes at once; at any time, most of them wait. */
export async function runCells(cells: readonly Cell[]): Promise<CellResult[]> {
  const results: CellResult[] = [];
  const running: Promise<void>[] = [];
  for (const isDeployed of [false, true]) {
    const chosen = [...cells.entries()].filter(
      ([, { situation }]) => (situation.isDeployed ?? false) === isDeployed,
    );
    const queue = chosen.values();
    const runInTurn = async (lane: Lane): Promise<void> => {
      for (const [index, cell] of queue.take(MAX_CELLS_OF_A_LANE)) {
        results[index] = await runCell(lane, cell);
      }
      await lane.close();
    };
    const usual = Math.min(24, Math.ceil(chosen.length / 15));
    const lanes = Math.max(usual, Math.ceil(chosen.length / MAX_CELLS_OF_A_LANE));
    for (let opened = 0; opened < lanes; opened += 1) {
      running.push(runInTurn(await openLane(isDeployed)));
    }
  }
  await Promise.all(running);
  return results;
}

/** Milliseconds within which every request gets its response: a function's time, not the longer one of a list. */
const DEADLINE = 28_000;

/** Sends the cell's request while its call fails, and compares the response with what is stored. */
export async function runCell(lane: Lane, cell: Cell): Promise<CellResult> {
  await lane.store.heal();
  const prepared = await prepare(lane, cell);
  const { situation, fault, times } = cell;
  const count = times === 'once' ? 1 : Number.POSITIVE_INFINITY;
  if (fault === 'refused') await lane.store.refuse(count);
  else lane.store.fail({ ...situation.call, after: situation.after ?? 0, fault, times: count });
  const stopUpdates = situation.streams ? updateMeanwhile(lane) : () => {};
  const started = performance.now();
  const response = await lane.send(prepared.request).catch(() => undefined);
  const milliseconds = performance.now() - started;
  await stopUpdates();
  await lane.store.heal();
  const responded = response?.status ?? 'broken';
  const problem =
    (milliseconds > DEADLINE ? `late response: ${Math.round(milliseconds)} ms` : undefined) ??
    (lane.hasCrashed() ? 'the process of the function ended' : undefined) ??
    judgeError(response) ??
    (await prepared.judge(response, prepared.request)) ??
    (toAllowed(cell).includes(responded) ? undefined : `unexpected response: ${responded}`);
  return { ...cell, responded, milliseconds, ...(problem !== undefined && { problem }) };
}

interface Prepared {
  readonly request: LaneRequest;
  /** @param response `undefined` if the connection broke. @returns what is wrong with it */
  judge(response: ExactResponse | undefined, request: LaneRequest): Promise<string | undefined>;
}

async function prepare(lane: Lane, cell: Cell): Promise<Prepared> {
  const { situation } = cell;
  lane.store.pageSize = situation.pageSize;
  const apiKey = await lane.addKey();
  const { update, sale } = situation;
  const prepare = update ? prepareUpdate : sale ? prepareSale : prepareRead;
  const prepared = await prepare(lane, cell, apiKey);
  if (situation.call.table !== 'apiKeys') return prepared;
  return { ...prepared, request: { ...prepared.request, apiKey: await lane.addKey() } };
}

/** Reads once without a fault, which also puts the key into the function's cache. */
async function prepareRead(lane: Lane, { situation }: Cell, apiKey: string): Promise<Prepared> {
  const { acceptEncoding = 'identity', method = 'GET', body, streams } = situation;
  const headers = {
    'Accept-Encoding': acceptEncoding,
    ...(body && json),
    ...situation.headers,
  };
  let path = situation.path ?? '';
  if (path.startsWith('next of ')) {
    const first = await lane.send({ path: path.replace('next of ', ''), apiKey });
    path = /<\/v1([^>]*)>; rel="next"/.exec(first.headers.get('Link') ?? '')?.[1] ?? '';
  }
  const request = { method, path, apiKey, headers, ...(body && { body }) };
  const expected = toText(await lane.send(request));
  return {
    request,
    async judge(response) {
      if (response?.status !== 200) return undefined;
      const text = toText(response);
      if (streams) return judgeWhole(text, path.includes('etag'));
      return text === expected ? undefined : `wrong success: ${text.slice(0, 100)}`;
    },
  };
}

async function prepareUpdate(lane: Lane, cell: Cell, apiKey: string): Promise<Prepared> {
  const { update } = cell.situation;
  const set = (quantity: number, more = {}) => ({
    method: 'PATCH',
    path: `/inventory/${fixtures.changeablePetId}`,
    apiKey,
    headers: { ...json, ...more },
    body: `{"quantity":${quantity}}`,
  });
  const old = await lane.send(set(randomInt(1_000_000)));
  if (update?.ifMatch === 'stale') await lane.send(set(randomInt(1_000_000)));
  const before = await lane.readEntry();
  const quantity = 1_000_000 + randomInt(1_000_000);
  const request = set(quantity, {
    ...(update?.ifMatch && { 'If-Match': String(old.headers.get('ETag')) }),
  });
  return {
    request,
    async judge(response) {
      const after = await lane.readEntry();
      const isStored = after.quantity === quantity;
      const isSame = after.etag === before.etag;
      if (!isStored && !isSame) return 'the entry is neither unchanged nor updated as requested';
      const isAcknowledged = isStored && response?.headers.get('ETag') === after.etag;
      if (response?.status === 200 && !isAcknowledged) return '200, but not stored as acknowledged';
      if (response?.status === 412 && isStored) return '412, but stored';
      if (isUnreached(cell) && isStored) return 'stored, though no call got through';
      if (response?.status !== 503 || !update?.ifMatch) return undefined;
      // Without a fault, the same request gets 412 once it is stored.
      const again = await lane.send(request);
      const isRefused = isStored || update.ifMatch === 'stale';
      const isOnce = !isRefused || (await lane.readEntry()).etag === after.etag;
      return again.status === (isRefused ? 412 : 200) && isOnce
        ? undefined
        : `wrong retry: ${again.status}`;
    },
  };
}

/** Whether no call of this kind reaches the tables. */
function isUnreached({ fault, times }: Cell): boolean {
  return times === 'always' && (fault === 'refused' || fault in refusals);
}

async function prepareSale(lane: Lane, cell: Cell, apiKey: string): Promise<Prepared> {
  const { sale, call } = cell.situation;
  const petIds = available.slice(0, sale?.isCart ? 2 : 1);
  const has = 100 + randomInt(1_000);
  for (const petId of petIds) await stock(petId, has);
  // Only the last one is refused.
  const deltas = petIds.map((_, index) =>
    sale?.isRefused && index + 1 === petIds.length ? -has - 1 : -7,
  );
  const adjustments = petIds.map((petId, index) => ({ petId, delta: deltas[index] }));
  const request = {
    method: 'POST',
    path: '/inventory/adjustments',
    apiKey,
    headers: { ...json, 'Idempotency-Key': randomUUID() },
    body: toJson({ adjustments }),
  };
  const isApplied = (counts: readonly number[]) =>
    counts.every((count, index) => count === has + (deltas[index] ?? 0));
  // Without its `Idempotency-Key` it is refused, which puts the key into the function's cache.
  await lane.send(sale?.isReplay ? request : { ...request, headers: json });

  function stock(petId: bigint, quantity: number) {
    const path = `/inventory/${petId}`;
    const body = `{"quantity":${quantity}}`;
    return lane.send({ method: 'PATCH', path, apiKey, headers: json, body });
  }

  async function readCounts(): Promise<number[]> {
    const entries = await Promise.all(petIds.map((petId) => lane.readEntry(petId)));
    return entries.map(({ quantity }) => quantity);
  }

  /** A refusal is the outcome, also once there are enough units. */
  async function judgeRefused(response: ExactResponse | undefined, sent: LaneRequest) {
    if ((await readCounts()).some((count) => count !== has)) return 'refused, but applied';
    const again = response?.status === 409 ? response : await lane.send(sent);
    if (again.status !== 409) return `wrong retry: ${again.status}`;
    for (const petId of petIds) await stock(petId, 2 * has);
    const last = await lane.send(sent);
    const isSame = last.status === 409 && last.headers.has('Idempotent-Replayed');
    if (!isSame || toText(last) !== toText(again)) return `wrong retry: ${last.status}`;
    const isUntouched = (await readCounts()).every((count) => count === 2 * has);
    return isUntouched ? undefined : 'refused, but applied by a retry';
  }

  return {
    request,
    async judge(response, sent) {
      if (sale?.isRefused) return judgeRefused(response, sent);
      const counts = await readCounts();
      const applied = isApplied(counts);
      if (!applied && counts.some((count) => count !== has)) return `applied in part: ${counts}`;
      if (response?.status === 200 && !applied) return '200, but not applied';
      const saysApplied = response?.status === 503 && toText(response).includes('was applied');
      if (saysApplied && !applied) return 'a 503 that says that it was applied, but it was not';
      const isReadAfter = call.table === 'inventory' && call.action !== 'TransactWriteItems';
      if (isReadAfter && response?.status === 503 && !saysApplied) {
        return 'a 503 that does not say that it was applied';
      }
      const hasOwnCall = call.action === 'TransactWriteItems' && !sale?.isReplay;
      if (isUnreached(cell) && hasOwnCall && applied) return 'applied, though no call got through';
      const again = await lane.send(sent);
      if (again.status !== 200 || !isApplied(await readCounts())) {
        return `wrong retry: ${again.status}, ${await readCounts()}`;
      }
      const isReplay = again.headers.has('Idempotent-Replayed');
      return isReplay === applied ? undefined : 'a retry is not known as one';
    },
  };
}

/** Changes random entries in the engine, without faults. @returns a function that stops it */
function updateMeanwhile({ engine }: Lane): () => Promise<void> {
  let goesOn = true;
  async function update(): Promise<void> {
    while (goesOn) {
      const item = fixtures.inventory[randomInt(fixtures.inventory.length)] as InventoryItem;
      const Item = toInventoryRecord({ ...item, quantity: randomInt(1_000) });
      await engine.send(new PutItemCommand({ TableName: 'inventory', Item }));
      await pause(20);
    }
  }
  const updating = update();
  return () => {
    goesOn = false;
    return updating;
  };
}

/** A list that ended must have every entry once; the counts may have changed meanwhile. */
function judgeWhole(text: string, withTags: boolean): string | undefined {
  const entries = parseJson(text) as { petId: number | bigint; etag?: string }[];
  const toIds = (items: readonly { petId: number | bigint }[]) =>
    items.map(({ petId }) => String(petId)).sort();
  if (`${toIds(entries)}` !== `${toIds(fixtures.inventory)}`) {
    return `a list ended with ${entries.length} of ${fixtures.inventory.length} entries`;
  }
  const areTagged = entries.every(({ etag }) => (etag !== undefined) === withTags);
  return areTagged ? undefined : 'not every entry has its tag';
}

/** What is wrong with an error response; the cell decides whether there may be one. */
function judgeError(response: ExactResponse | undefined): string | undefined {
  if (response === undefined || response.status === 200) return undefined;
  if (response.status === 500) return '500 for a known cause';
  const { status } = response.json() as { status?: number };
  if (status !== response.status) return `${response.status} without an Error body`;
  if (response.status === 503 && !response.headers.has('Retry-After')) {
    return '503 without Retry-After';
  }
  return undefined;
}

function toText({ bytes, headers }: ExactResponse): string {
  return String(decode(headers.get('Content-Encoding'), bytes));
}
