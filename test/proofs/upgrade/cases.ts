import { deepEqual, equal, match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { LocalStage } from '../../../infra/local/localStage.ts';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { MAX_QUANTITY, petStatuses } from '../../../shared/contract/values.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { send, sendUpdate } from '../../conformance/target.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';

/** A release on tables that it shares with another. */
export interface Release extends Pick<LocalStage, 'baseUrl' | 'apiKey' | 'engineEndpoint'> {
  readonly name: string;
  /** The folder of its sources. */
  readonly root: string;
}

/** Two releases that take turns, as in a canary, after an upgrade or after a rollback. */
interface Turn {
  readonly first: Release;
  readonly second: Release;
  /** With write permission. */
  readonly apiKey: string;
  /** An entry of this turn alone. */
  readonly petId: bigint;
}

/** @throws {AssertionError} if a release is wrong */
type Case = (turn: Turn) => Promise<void>;

export const entryCases: Record<string, Case> = {
  async 'a tag is accepted once, of a response, of a list and of an entry read alone'(turn) {
    const { first, apiKey, petId } = turn;
    await expectAcceptedOnce(turn, toTag(await update(turn, first, draw())));
    await expectAcceptedOnce(turn, (await readEntry(turn, first)).etag);
    const response = await get(first, apiKey, `/inventory/${petId}`);
    const { etag, ...listed } = await readEntry(turn, first);
    deepEqual([response.json(), toTag(response)], [listed, etag]);
    await expectAcceptedOnce(turn, etag);
  },

  async 'the tag of an adjusted entry is accepted once'(turn) {
    const tag = toTag(await update(turn, turn.first, draw()));
    equal((await adjust(turn, turn.second, 5)).status, 200);
    for (const release of [turn.first, turn.second]) {
      equal((await update(turn, release, draw(), { 'If-Match': tag })).status, 412);
    }
    await expectAcceptedOnce(turn, (await readEntry(turn, turn.first)).etag);
  },

  async 'of two updates at once with one tag, one is stored'(turn) {
    const headers = { 'If-Match': toTag(await update(turn, turn.first, draw())) };
    const [quantity, otherQuantity] = [draw(), draw()];
    const [one, other] = await Promise.all([
      update(turn, turn.first, quantity, headers),
      update(turn, turn.second, otherQuantity, headers),
    ]);
    deepEqual([one.status, other.status].sort(), [200, 412]);
    await expectQuantity(turn, one.status === 200 ? quantity : otherQuantity);
  },

  async 'an adjustment has one effect'(turn) {
    const [quantity, key] = [draw(), randomUUID()];
    equal((await update(turn, turn.first, quantity)).status, 200);
    const responses = [await adjust(turn, turn.first, 5, key)];
    for (const release of [turn.second, turn.first]) {
      responses.push(await adjust(turn, release, 5, key));
    }
    deepEqual(responses.map(toReplay), [null, 'true', 'true']);
    await expectQuantity(turn, quantity + 5);
  },

  async 'an adjustment sent to both at once has one effect'(turn) {
    const [quantity, key] = [draw(), randomUUID()];
    equal((await update(turn, turn.first, quantity)).status, 200);
    const both = [turn.first, turn.second].map((release) => adjust(turn, release, 5, key));
    deepEqual((await Promise.all(both)).map(toReplay).sort(), [null, 'true']);
    await expectQuantity(turn, quantity + 5);
  },

  async 'a refusal is the outcome of its key'(turn) {
    const key = randomUUID();
    const first = await adjust(turn, turn.first, -MAX_QUANTITY, key);
    // The last release neither stores nor says which pets refused. A replay says what was stored.
    const own = await adjust(turn, turn.second, -MAX_QUANTITY);
    const isSaid = [first, own].every((response) => toRefusal(response).refused !== undefined);
    const { refused, ...error } = toRefusal(first);
    for (const release of [turn.second, turn.first]) {
      const says = release === turn.first ? refused : isSaid ? refused : undefined;
      const again = await adjust(turn, release, -MAX_QUANTITY, key);
      equal(again.headers.get('Idempotent-Replayed'), 'true');
      deepEqual(toRefusal(again), { ...error, ...(says !== undefined && { refused: says }) });
      // Units that come back change nothing.
      equal((await adjust(turn, release, 1)).status, 200);
    }
  },

  /** Release 2.0 alone takes the key: its row has the same key as that of an adjustment. */
  async 'an update with a key changes an entry once, or is refused'(turn) {
    const { first, second } = turn;
    const { quantity, etag } = await readEntry(turn, first);
    const requests = [0, 1].map(() => {
      const key = randomUUID();
      return { key, quantity: draw(), headers: { 'If-Match': etag, 'Idempotency-Key': key } };
    });
    const send = (one: (typeof requests)[number]) => update(turn, first, one.quantity, one.headers);
    const responses = await Promise.all(requests.map(send));
    const statuses = responses.map(({ status }) => status).sort();
    if (statuses[0] === 400) {
      deepEqual(statuses, [400, 400]);
      return expectQuantity(turn, quantity);
    }
    deepEqual(statuses, [200, 412]);
    const taken = responses.findIndex(({ status }) => status === 200);
    const [request, response] = [requests[taken], responses[taken]];
    if (!request || !response) return;
    const sale = await adjust(turn, second, 1, request.key);
    const again = await send(request);
    deepEqual([again.text, toTag(again)], [response.text, toTag(response)]);
    deepEqual([sale, await adjust(turn, first, 1, request.key)].map(toReplay), [null, 'true']);
    await expectQuantity(turn, request.quantity + 1);
  },
};

/** Each reads all entries, or makes API keys. */
export const stageCases: Record<string, Case> = {
  async 'lists and pets are the same, also in pages of both'({ first, second, apiKey }) {
    for (const path of ['/inventory?', '/inventory?status=sold&', '/store/orders?']) {
      const whole = await get(first, apiKey, path.replace('orders?', 'orders?limit=1000'));
      const pages = [await get(second, apiKey, `${path}limit=7`)];
      for (let next = toNext(pages[0]); next !== undefined; next = toNext(pages.at(-1))) {
        pages.push(await get(pages.length % 2 === 0 ? second : first, apiKey, next));
      }
      deepEqual(sort(...pages), sort(whole));
    }
    for (const path of ['/inventory/7', '/pets/7']) {
      // The later release may have retired an operation.
      if (findOperation('GET', path) === undefined) continue;
      const one = await get(first, apiKey, path);
      equal((await get(second, apiKey, path)).text, one.text);
    }
  },

  async 'API keys are the same, made by one and ended by the other'({ first, second, petId }) {
    const create = (permission: string) =>
      runKeys(first, 'create', '--name', 'upgrade', '--permission', permission);
    const toKeyId = (apiKey: string) => apiKey.slice('psk_'.length).slice(0, 10);
    async function expectStatus(apiKey: string, status: number): Promise<void> {
      const turn = { first, second, apiKey, petId };
      equal((await update(turn, second, draw())).status, status);
      equal((await update(turn, first, draw())).status, status);
    }
    await expectStatus(await create('read'), 403);
    const [rotated, revoked] = [await create('write'), await create('write')];
    const successor = await runKeys(second, 'rotate', toKeyId(rotated), '--grace', '0s', '--yes');
    await runKeys(second, 'revoke', toKeyId(revoked), '--yes');
    await expectStatus(successor, 200);
    await expectStatus(rotated, 401);
    await expectStatus(revoked, 401);
    match(await runKeys(first, 'list'), new RegExp(`^${toKeyId(revoked)} .* revoked `, 'm'));
  },
};

let drawn = 0;
/** A quantity unlike any before. */
function draw(): number {
  drawn += 1;
  return drawn;
}

function update(
  { apiKey, petId }: Turn,
  { baseUrl }: Release,
  quantity: number,
  headers: Record<string, string> = {},
) {
  return sendUpdate({ baseUrl, apiKey }, petId, `{"quantity":${quantity}}`, headers);
}

/** Also of an entry that does not exist, if it is a sale. */
function adjust(
  { apiKey, petId }: Turn,
  { baseUrl }: Release,
  delta: number,
  key: string = randomUUID(),
) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
  const missing = delta < 0 ? [{ petId: -petId, delta }] : [];
  const body = toJson({ adjustments: [...missing, { petId, delta }] });
  return send({ baseUrl, apiKey }, 'POST', '/inventory/adjustments', { headers, body });
}

function toReplay({ status, headers }: ExactResponse): string | null {
  equal(status, 200);
  return headers.get('Idempotent-Replayed');
}

function toRefusal(response: ExactResponse): Record<string, unknown> {
  equal(response.status, 404);
  return response.json() as Record<string, unknown>;
}

/** @param path relative to the base URL, or with its `/v1` */
async function get({ baseUrl }: Release, apiKey: string, path: string) {
  const response = await send({ baseUrl, apiKey }, 'GET', path.replace(/^\/v1/, ''));
  equal(response.status, 200);
  return response;
}

const toNext = (page?: ExactResponse) =>
  /<([^>]+)>; rel="next"/.exec(page?.headers.get('Link') ?? '')?.[1];

/** Runs `petstore keys` of a release. @returns what it prints */
async function runKeys({ root, engineEndpoint }: Release, ...args: string[]): Promise<string> {
  const command = [join(root, 'infra/petstore.js'), 'keys', ...args, '--endpoint', engineEndpoint];
  return (await promisify(execFile)(process.execPath, command)).stdout.trim();
}

function toTag({ status, headers }: ExactResponse): string {
  equal(status, 200);
  return String(headers.get('ETag'));
}

async function readEntry({ apiKey, petId }: Turn, release: Release) {
  const response = await get(release, apiKey, `/inventory?include=etag&petId=${petId}`);
  const [entry] = response.json() as { petId: bigint; quantity: number; etag: string }[];
  if (!entry) throw new Error(`The list of ${release.name} lacks ${petId}.`);
  return entry;
}

async function expectQuantity(turn: Turn, expected: number): Promise<void> {
  equal((await readEntry(turn, turn.first)).quantity, expected);
  equal((await readEntry(turn, turn.second)).quantity, expected);
}

/** The second release accepts the tag. After that, neither does. */
async function expectAcceptedOnce(turn: Turn, tag: string): Promise<void> {
  const [quantity, headers] = [draw(), { 'If-Match': tag }];
  equal((await update(turn, turn.second, quantity, headers)).status, 200);
  equal((await update(turn, turn.second, draw(), headers)).status, 412);
  equal((await update(turn, turn.first, draw(), headers)).status, 412);
  await expectQuantity(turn, quantity);
}

/** The entries of lists, as texts in one order. */
function sort(...lists: readonly ExactResponse[]): string[] {
  const entries = lists.flatMap(({ text }) => parseJson(text) as unknown[]);
  return entries.map(toJson).sort();
}

/** The updates of an entry before its turn, each with a key or without. Only release 2.0 takes one. */
type Past = readonly (readonly [Release, key?: string])[];

/**
 * Runs each case with the releases in every order, after whatever either has done to the entry.
 * @returns the cases with their problems, which begin with the releases of the turn in their order
 */
export async function runUpgrade(
  cases: Record<string, Case>,
  last: Release,
  next: Release,
  engine: DynamoDBClient,
) {
  const updated: Past[] = [[[last]], [[last, 'a']], [[next]], [[last, 'a'], [next]]];
  const pasts: Past[] = cases === stageCases ? [[]] : [[], ...updated, [[next], [last, 'a']]];
  const orders = [last, next].flatMap((first) => [last, next].map((second) => ({ first, second })));
  let entries = 0;

  async function runTurn(check: Case, past: Past, order: (typeof orders)[number]) {
    entries += 1;
    const petId = FIRST_ID + BigInt(entries);
    const status = petStatuses[entries % petStatuses.length] ?? 'available';
    const Item = toInventoryRecord({ petId, quantity: 1_000_000 + entries, status });
    await engine.send(new PutItemCommand({ TableName: 'inventory', Item }));
    const turn = { ...order, apiKey: next.apiKey, petId };
    try {
      for (const [release, key] of past) {
        await update(turn, release, entries, key === undefined ? {} : { 'Idempotency-Key': key });
      }
      await check(turn);
      return [];
    } catch (error) {
      const releases = [...past.map(([release]) => release), order.first, order.second];
      const names = releases.map(({ name }) => name).join(', ');
      return [`${names}: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`];
    }
  }

  const results = [];
  for (const [name, check] of Object.entries(cases)) {
    const problems: string[] = [];
    for (const past of pasts) {
      for (const order of orders) problems.push(...(await runTurn(check, past, order)));
    }
    const turns = pasts.length * orders.length;
    results.push({ name, turns, problems: problems.map((problem) => `${name}: ${problem}`) });
  }
  return results;
}

/** Past 2^53, and past the sample's. */
const FIRST_ID = 2n ** 60n;
