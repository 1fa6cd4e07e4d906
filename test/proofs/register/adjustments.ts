import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type RefusalCode, refusalCodes } from '../../../shared/contract/errorBody.ts';
import type { AdjustmentRefused } from '../../../shared/contract/errors.ts';
import { toJson } from '../../../shared/contract/json.ts';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { MAX_QUANTITY } from '../../../shared/contract/values.ts';
import {
  type AdjustmentResult,
  defineInventoryAdjustments,
} from '../../../shared/store/inventoryAdjustments.ts';
import { readPetStatus } from '../../../shared/store/inventoryRecord.ts';
import { defineDraw } from '../../support/testCommand.ts';
import type { Call, Database, Reply } from './database.ts';
import {
  defineServiceClient,
  defineTurns,
  type Fate,
  failures,
  meet,
  skipPauses,
} from './schedule.ts';

/** The stored entries by pet, as they were after one of the calls. */
type State = ReadonlyMap<bigint, InventoryItem>;

/** A client's request, the same in each attempt. */
interface Request {
  readonly name: string;
  readonly key: string;
  readonly deltas: readonly { readonly petId: bigint; readonly delta: number }[];
  readonly attempts: Attempt[];
  /** What its calls changed, as indices of the state after each change. */
  readonly effects: { readonly state: number; readonly by: Attempt }[];
  /** The index of the state when it was sent first. */
  since?: number;
}

interface Attempt {
  readonly name: string;
  readonly request: Request;
  failures: number;
  status?: 200 | 404 | 409 | 422 | 503 | 500 | 'killed';
  returned?: AdjustmentResult;
  error?: Error;
  /** The index of the state at its end. */
  until?: number;
}

const statuses: Readonly<Record<string, 422 | 503>> = {
  IdempotencyKeyReused: 422,
  StoreUnavailable: 503,
};

/**
 * Runs clients' adjustments of two entries with few pieces, one call to the database at a time. One client sends a cart
 * up to three times, at once or later. Others sell the same pets, put pieces back between, or use its key for something
 * else. Then calls stop failing, and each request is sent once more.
 */
export function defineAdjustmentScheduler(database: Database) {
  let petIds: readonly [bigint, bigint] = [-1n, 0n];
  let park: (call: Call) => Promise<Reply>;
  const client = defineServiceClient((call) => park(call));
  const store = defineInventoryAdjustments(client, 'inventory', 'requests');

  return async function runSchedule(seed: number) {
    const draw = defineDraw(seed);
    const randomOne = <Value>(all: readonly Value[]) =>
      all[Math.floor(draw() * all.length)] as Value;
    // Entries and keys of this schedule alone.
    petIds = [petIds[0] + 2n, petIds[1] + 2n];
    const drawn: Fate[] = [];
    /** One line a step. */
    const trace: string[] = [];
    const states: State[] = [new Map()];
    let failing = draw() < 0.15 ? 0 : 0.6 * draw();
    /** The attempt that runs until it makes a call or ends; all others wait. */
    let running: Attempt | undefined;
    using _pauses = skipPauses(() => running !== undefined);
    const { plan, run } = defineTurns(draw, () => running !== undefined);
    const forgetToken = draw() < 0.5 && { ClientRequestToken: undefined };

    park = ({ action, parameters }) =>
      new Promise((resolve, reject) => {
        const attempt = running as Attempt;
        const call = { action, parameters: { ...parameters, ...forgetToken } };
        running = undefined;
        plan(async () => {
          const reply = await toReply(call, attempt);
          if (reply === 'killed') return end(attempt, { status: reply });
          running = attempt;
          return reply instanceof Error ? reject(reply) : resolve(reply);
        });
      });

    function toReply(call: Call, attempt: Attempt) {
      const isRead = /Get/.test(call.action);
      let fate: Fate = draw() < failing ? randomOne(failures) : 'responded';
      if (fate === 'conflict' && isRead) fate = 'throttled';
      drawn.push(fate);
      if (fate !== 'responded' && fate !== 'killed') attempt.failures += 1;
      return meet({
        call,
        fate,
        title: `${attempt.name} ${call.action}`,
        trace,
        draw,
        database,
        plan,
        execute: (one) => execute(one, attempt),
      });
    }

    async function execute(call: Call, attempt?: Attempt): Promise<Reply> {
      const reply = await database.execute(call);
      if (/Get/.test(call.action) || reply.status !== 200) return reply;
      const records = await Promise.all(petIds.map((petId) => database.readEntry(petId)));
      const items = records.flatMap((record) => (record ? [toItem(record)] : []));
      const after: State = new Map(items.map((item) => [item.petId, item]));
      if (isDeepStrictEqual(after, states.at(-1))) return reply;
      states.push(after);
      attempt?.request.effects.push({ state: states.length - 1, by: attempt });
      const texts = petIds.map((petId) => toText(after.get(petId)));
      trace.push(`    the entries are ${texts.join(' and ')}`);
      return reply;
    }

    function begin(request: Request): void {
      const { attempts, key, deltas } = request;
      const attempt: Attempt = {
        name: `${request.name}${attempts.length + 1}`,
        request,
        failures: 0,
      };
      attempts.push(attempt);
      request.since ??= states.length - 1;
      const shown = deltas.map(({ petId, delta }) => `${petId === petIds[0] ? 1 : 2}:${delta}`);
      trace.push(`${attempt.name} adjusts ${shown} with the key ${request.name}`);
      running = attempt;
      store.adjust(deltas, key).then(
        (returned) => end(attempt, { status: 200, returned }),
        (error: Error & { code?: string }) => {
          const refused = error.code === 'not_found' ? 404 : 409;
          const status =
            error.name === 'AdjustmentRefused' ? refused : (statuses[error.name] ?? 500);
          end(attempt, { status, error });
        },
      );
    }

    function end(attempt: Attempt, how: Pick<Attempt, 'status' | 'returned' | 'error'>): void {
      Object.assign(attempt, how, { until: states.length - 1 });
      trace.push(`${attempt.name}: ${how.status} ${how.error?.message ?? ''}`);
      running = undefined;
    }

    async function importEntry(index: 0 | 1, quantity: number, status: string): Promise<void> {
      const Item = { p: { N: `${petIds[index]}` }, q: { N: `${quantity}` }, s: { S: status } };
      await execute({ action: 'PutItem', parameters: { TableName: 'inventory', Item } });
    }

    const toRequest = (name: string, deltas: readonly number[], of = name): Request => ({
      name,
      key: `${petIds[0]}-${of}`,
      attempts: [],
      effects: [],
      deltas: deltas.flatMap((delta, index) => {
        return delta === 0 ? [] : { petId: petIds[index] as bigint, delta };
      }),
    });
    const cart = randomOne([
      [-1, 0],
      [-1, -1],
      [-2, -1],
      [-1, 1],
    ]);
    const repeated = toRequest('A', cart);
    const others = [
      toRequest(
        'B',
        randomOne([
          [-1, 0],
          [0, -1],
          [-1, -1],
        ]),
      ),
      // Stock that returns.
      toRequest(
        'C',
        randomOne([
          [1, 0],
          [0, 2],
          [1, 1],
          [2, 0],
        ]),
      ),
      toRequest(
        'D',
        randomOne([
          [-3, 0],
          [1, 0],
          [0, -1],
        ]),
        draw() < 0.3 ? 'A' : 'D',
      ),
    ].filter(() => draw() < 0.6);
    for (const index of [0, 1] as const) {
      const quantity = draw() < 0.04 ? MAX_QUANTITY : Math.floor(draw() * 4);
      if (draw() < 0.95) await importEntry(index, quantity, draw() < 0.92 ? 'a' : 'p');
    }
    const repeats = randomOne([[], [repeated], [repeated, repeated]]);
    for (const request of [repeated, ...repeats, ...others]) plan(() => begin(request));
    await run(({ isStray }) => isStray);
    trace.push('No call fails from here on.');
    failing = 0;
    const requests = [repeated, ...others];
    // Calls that are still on their way may arrive before or after.
    for (const request of requests) plan(() => begin(request));
    await run(() => false);
    const attempts = requests.flatMap((request) => request.attempts);
    const problems = [...judge(requests, states)];
    return { seed, fates: drawn, trace, statuses: attempts.map(({ status }) => status), problems };
  };
}

/** Also with a count that the service would refuse: a wrong store must be found, not fail. */
function toItem(record: Record<string, AttributeValue>): InventoryItem {
  return {
    petId: BigInt(record.p?.N ?? 0),
    quantity: Number(record.q?.N),
    status: readPetStatus(record),
  };
}

function toText(item: InventoryItem | undefined): string {
  return item ? `${item.quantity} ${item.status}` : 'gone';
}

function* judge(requests: readonly Request[], states: readonly State[]): Generator<string> {
  for (const same of Map.groupBy(requests, ({ key }) => key).values()) {
    const outcomes = same.flatMap(({ attempts }) => attempts).filter(isOutcome);
    if (same.flatMap(({ effects }) => effects).length > 1) yield 'A key has two effects.';
    const texts = new Set(outcomes.map(({ error }) => error && toOutcomeText(error)));
    if (texts.size > 1) yield 'A key has two outcomes.';
    if (new Set(outcomes.map(({ request }) => request)).size > 1) yield 'A key has two requests.';
    if (outcomes.length === 0) yield 'A key has no outcome.';
  }
  for (const request of requests) {
    for (const { state } of request.effects) yield* judgeEffect(request, states, state);
    for (const attempt of request.attempts) yield* judgeResponse(attempt, states);
    if (request.attempts.at(-1)?.status === 503) yield 'A 503 comes although no call failed.';
  }
}

/** What a refusal says, which each replay repeats. */
function toOutcomeText(error: Error): string {
  return toJson([error.message, (error as AdjustmentRefused).refused]);
}

function isOutcome({ status }: Attempt): boolean {
  return status === 200 || status === 404 || status === 409;
}

/** All of its deltas, and nothing else. */
function* judgeEffect(
  { deltas }: Request,
  states: readonly State[],
  state: number,
): Generator<string> {
  const [before, after] = [states[state - 1] as State, states[state]];
  const expected = new Map(before);
  for (const { petId, delta } of deltas) {
    const item = before.get(petId);
    if (!item) return yield 'An adjustment creates an entry.';
    expected.set(petId, { ...item, quantity: item.quantity + delta });
  }
  if (!isDeepStrictEqual(after, expected)) yield 'An effect is not what the request asks for.';
  if (refuse(deltas, before)) yield 'An effect is not allowed.';
}

/** The code of the refusal, or nothing. */
function refuse(deltas: Request['deltas'], state: State): RefusalCode | undefined {
  const codes = deltas.map(({ petId, delta }): RefusalCode | undefined => {
    const { quantity, status } = state.get(petId) ?? {};
    if (quantity === undefined) return 'not_found';
    if (delta > 0) return quantity + delta > MAX_QUANTITY ? 'quantity_out_of_range' : undefined;
    if (status !== 'available') return 'not_for_sale';
    return quantity + delta < 0 ? 'insufficient_stock' : undefined;
  });
  return refusalCodes.find((code) => codes.includes(code));
}

function* judgeResponse(attempt: Attempt, states: readonly State[]): Generator<string> {
  const { request, status, returned, error, failures, until = 0 } = attempt;
  const [effect] = request.effects;
  const isEffective = effect !== undefined && effect.state <= until;
  switch (status) {
    case 200: {
      if (!isEffective) return yield 'A 200 has no effect.';
      if (returned?.isReplay !== (effect.by !== attempt)) yield 'A replay is not marked as one.';
      const later = states.slice(effect.state, until + 1);
      const wrong = request.deltas.some(({ petId }, index) => {
        return !later.some((state) => isDeepStrictEqual(state.get(petId), returned?.items[index]));
      });
      if (wrong) yield 'A 200 has entries that never were so.';
      break;
    }
    case 404:
    case 409: {
      if (effect) yield 'A refused request has an effect.';
      const seen = states.slice(request.since, until + 1).map((one) => refuse(request.deltas, one));
      // A pet that DynamoDB did not report because of a conflict may have a code that goes first.
      const codes = request.deltas.flatMap((delta) => {
        return states.slice(request.since, until + 1).map((one) => refuse([delta], one));
      });
      const { code } = error as AdjustmentRefused;
      if (!seen.some((one) => one) || !codes.includes(code))
        yield 'A refusal comes without a reason.';
      break;
    }
    case 422:
      if (effect) yield 'A request with a 422 has an effect.';
      break;
    case 503:
      if (failures === 0) yield 'A 503 comes although no call failed.';
      if (error?.message.includes('was applied') && !isEffective)
        yield 'A 503 reports a wrong effect.';
      break;
    case 500:
      yield `An attempt ends with ${error?.name}: ${error?.message}`;
  }
}
