import { deepEqual, equal, match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { LocalStage } from '../../../infra/local/localStage.ts';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { petStatuses } from '../../../shared/contract/values.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { send, sendUpdate } from '../../conformance/target.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';

/** A release on tables that it shares with another. Functions that it does not have respond with 5xx. */
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

/** @returns 'skipped' if a release lacks what the case needs. @throws {AssertionError} if a release is wrong */
type Case = (turn: Turn) => Promise<unknown>;

export const entryCases: Record<string, Case> = {
  async 'the tag of a response is accepted once'(turn) {
    await expectAcceptedOnce(turn, toTag(await update(turn, turn.first, draw())));
  },

  async 'a listed tag is accepted once'(turn) {
    const { etag } = await readEntry(turn, turn.first);
    return etag === undefined ? 'skipped' : expectAcceptedOnce(turn, etag);
  },

  async 'the tag of an entry read alone is accepted once'(turn) {
    const { first, apiKey, petId } = turn;
    if (!existsSync(join(first.root, 'functions/getInventoryEntry.ts'))) return 'skipped';
    const response = await get(first, apiKey, `/inventory/${petId}`);
    const { etag, ...listed } = await readEntry(turn, first);
    deepEqual([response.json(), toTag(response)], [listed, etag]);
    return expectAcceptedOnce(turn, toTag(response));
  },

  async 'a listed tag is accepted once with keys'(turn) {
    const { etag } = await readEntry(turn, turn.first);
    return etag === undefined ? 'skipped' : expectAcceptedOnce(turn, etag, randomUUID);
  },

  async 'a retry has no second effect'(turn) {
    const request = [draw(), { 'Idempotency-Key': randomUUID() }] as const;
    const response = await update(turn, turn.first, ...request);
    expectSame(await update(turn, turn.second, ...request), response);
    const quantity = draw();
    equal((await update(turn, turn.second, quantity)).status, 200);
    expectSame(await update(turn, turn.first, ...request), response);
    expectSame(await update(turn, turn.second, ...request), response);
    await expectQuantity(turn, quantity);
  },

  async 'an adjustment has one effect beside updates with the same key'(turn) {
    if (![turn.first, turn.second].some(canAdjust)) return 'skipped';
    const key = { 'Idempotency-Key': randomUUID() };
    const response = await update(turn, turn.first, draw(), key);
    const sale = await adjust(turn, 1, key);
    equal(sale.status, 200);
    equal(sale.headers.get('Idempotent-Replayed'), null);
    const { quantity } = response.json() as { quantity: number };
    await expectQuantity(turn, quantity + 1);
    // Neither release takes the row of the adjustment for that of an update, or the other way round.
    expectSame(await update(turn, turn.second, quantity, key), response);
    expectSame(await update(turn, turn.first, quantity, key), response);
    const again = await adjust(turn, 1, key);
    equal(again.headers.get('Idempotent-Replayed'), 'true');
    await expectQuantity(turn, quantity + 1);
  },

  async 'the tag of an adjusted entry is accepted once'(turn) {
    if (![turn.first, turn.second].some(canAdjust)) return 'skipped';
    const tag = toTag(await update(turn, turn.first, draw()));
    equal((await adjust(turn, 5, { 'Idempotency-Key': randomUUID() })).status, 200);
    for (const release of [turn.first, turn.second]) {
      equal((await update(turn, release, draw(), { 'If-Match': tag })).status, 412);
    }
    const { etag } = await readEntry(turn, turn.first);
    return etag === undefined ? 'skipped' : expectAcceptedOnce(turn, etag);
  },

  async 'a refusal disturbs no update'(turn) {
    if (![turn.first, turn.second].some(canAdjust)) return 'skipped';
    const key = { 'Idempotency-Key': randomUUID() };
    equal((await adjust(turn, -2_147_483_647, key)).status, 409);
    const quantity = draw();
    const response = await update(turn, turn.first, quantity, key);
    expectSame(await update(turn, turn.second, quantity, key), response);
    equal((await adjust(turn, -2_147_483_647, key)).status, 409);
    await expectQuantity(turn, quantity);
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

  async 'a request sent to both at once has one effect'(turn) {
    const tag = toTag(await update(turn, turn.first, draw()));
    const request = [draw(), { 'If-Match': tag, 'Idempotency-Key': randomUUID() }] as const;
    const [one, other] = await Promise.all([
      update(turn, turn.first, ...request),
      update(turn, turn.second, ...request),
    ]);
    expectSame(one, other);
    await expectQuantity(turn, request[0]);
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
    if (![first, second].every(({ root }) => existsSync(join(root, petstore)))) return 'skipped';
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

const canAdjust = ({ root }: Release) => existsSync(join(root, 'functions/adjustInventory.ts'));

/** By the release that has the operation. */
function adjust(
  { first, second, apiKey, petId }: Turn,
  delta: number,
  key: Record<string, string>,
) {
  const { baseUrl } = [first, second].find(canAdjust) as Release;
  const headers = { 'Content-Type': 'application/json', ...key };
  const body = `{"adjustments":[{"petId":${petId},"delta":${delta}}]}`;
  return send({ baseUrl, apiKey }, 'POST', '/inventory/adjustments', { headers, body });
}

/** @param path relative to the base address, or with its `/v1` */
async function get({ baseUrl }: Release, apiKey: string, path: string) {
  const response = await send({ baseUrl, apiKey }, 'GET', path.replace(/^\/v1/, ''));
  equal(response.status, 200);
  return response;
}

const toNext = (page?: ExactResponse) =>
  /<([^>]+)>; rel="next"/.exec(page?.headers.get('Link') ?? '')?.[1];

const petstore = 'infra/petstore.js';

/** Runs `petstore keys` of a release. @returns what it prints */
async function runKeys({ root, engineEndpoint }: Release, ...args: string[]): Promise<string> {
  const command = [join(root, petstore), 'keys', ...args, '--endpoint', engineEndpoint];
  return (await promisify(execFile)(process.execPath, command)).stdout.trim();
}

function toTag({ status, headers }: ExactResponse): string {
  equal(status, 200);
  return String(headers.get('ETag'));
}

function expectSame(one: ExactResponse, other: ExactResponse): void {
  deepEqual([one.text, toTag(one)], [other.text, toTag(other)]);
}

/** Reads the whole list from a release that does not know `petId`. */
async function readEntry({ apiKey, petId }: Turn, release: Release) {
  const response = await get(release, apiKey, `/inventory?include=etag&petId=${petId}`);
  const entries = response.json() as { petId: number; quantity: number; etag?: string }[];
  const found = entries.find((entry) => BigInt(entry.petId) === petId);
  if (!found) throw new Error(`The list of ${release.name} lacks ${petId}.`);
  return found;
}

async function expectQuantity(turn: Turn, expected: number): Promise<void> {
  equal((await readEntry(turn, turn.first)).quantity, expected);
  equal((await readEntry(turn, turn.second)).quantity, expected);
}

/** The second release accepts the tag. After that, neither does. @param toKey makes a key for each update */
async function expectAcceptedOnce(turn: Turn, tag: string, toKey?: () => string): Promise<void> {
  const toHeaders = () => ({ 'If-Match': tag, ...(toKey && { 'Idempotency-Key': toKey() }) });
  const quantity = draw();
  equal((await update(turn, turn.second, quantity, toHeaders())).status, 200);
  equal((await update(turn, turn.second, draw(), toHeaders())).status, 412);
  equal((await update(turn, turn.first, draw(), toHeaders())).status, 412);
  await expectQuantity(turn, quantity);
}

/** The entries of lists, as texts in one order. */
function sort(...lists: readonly ExactResponse[]): string[] {
  const entries = lists.flatMap(({ text }) => parseJson(text) as unknown[]);
  return entries.map(toJson).sort();
}

/** The updates of an entry before its turn, each with a key or without. */
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
  const once: Past[] = [[[last]], [[last, 'a']], [[next]], [[next, 'a']]];
  const twice: Past[] = [
    [[last], [next, 'a']],
    [[next], [last, 'a']],
  ];
  const pasts: Past[] = cases === stageCases ? [[]] : [[], ...once, ...twice];
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
      return await check(turn);
    } catch (error) {
      const releases = [...past.map(([release]) => release), order.first, order.second];
      const names = releases.map(({ name }) => name).join(', ');
      return new Error(`${names}: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`);
    }
  }

  const results = [];
  for (const [name, check] of Object.entries(cases)) {
    const outcomes: unknown[] = [];
    for (const past of pasts) {
      for (const order of orders) outcomes.push(await runTurn(check, past, order));
    }
    const skipped = outcomes.filter((outcome) => outcome === 'skipped').length;
    const errors = outcomes.filter((outcome) => outcome instanceof Error);
    const problems = errors.map(({ message }) => `${name}: ${message}`);
    results.push({ name, turns: outcomes.length - skipped, skipped, problems });
  }
  return results;
}

/** Past 2^53, and past the sample's. */
const FIRST_ID = 2n ** 60n;
