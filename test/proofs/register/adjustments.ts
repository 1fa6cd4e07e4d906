import { isDeepStrictEqual } from 'node:util';
import { type RefusalCode, refusalCodes } from '../../../shared/contract/errorBody.ts';
import { toJson } from '../../../shared/contract/json.ts';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { MAX_QUANTITY } from '../../../shared/contract/values.ts';
import {
  type AdjustmentResult,
  defineInventoryAdjustments,
} from '../../../shared/store/inventoryAdjustments.ts';
import { type Attempt, type DefinePlans, type Request, type State, toRequest } from './schedule.ts';

interface Adjustment extends Request<AdjustmentResult> {
  readonly key: string;
  readonly deltas: readonly { readonly petId: bigint; readonly delta: number }[];
}

/** What is added to the two entries. */
type Cart = readonly [one: number, other: number];
/** Stock that is sold, and stock that returns. */
const carts: Readonly<Record<'repeated' | 'sale' | 'takenBack' | 'another', readonly Cart[]>> = {
  repeated: [
    [-1, 0],
    [-1, -1],
    [-2, -1],
    [-1, 1],
  ],
  sale: [
    [-1, 0],
    [0, -1],
    [-1, -1],
  ],
  takenBack: [
    [1, 0],
    [0, 2],
    [1, 1],
    [2, 0],
  ],
  another: [
    [-3, 0],
    [1, 0],
    [0, -1],
  ],
};

/**
 * Clients adjust two entries with few units. One sends a cart up to three times, at once or later. Others sell the same
 * pets, put units back between, or use its key for something else. In the end, each request is sent once more.
 */
export const defineAdjustmentPlans: DefinePlans<Adjustment, AdjustmentResult> = (client) => {
  const store = defineInventoryAdjustments(client, 'inventory', 'requests');

  return async ({ draw, randomOne, petIds, importEntry }) => {
    const adjustment = (name: string, cart: Cart, of = name): Adjustment => ({
      ...toRequest(name),
      key: `${petIds[0]}-${of}`,
      deltas: petIds
        .map((petId, index) => ({ petId, delta: cart[index] ?? 0 }))
        .filter(({ delta }) => delta !== 0),
    });
    const repeated = adjustment('A', randomOne(carts.repeated));
    const others = [
      adjustment('B', randomOne(carts.sale)),
      adjustment('C', randomOne(carts.takenBack)),
      adjustment('D', randomOne(carts.another), draw() < 0.3 ? 'A' : 'D'),
    ].filter(() => draw() < 0.6);
    for (const petId of petIds) {
      const quantity = draw() < 0.04 ? MAX_QUANTITY : Math.floor(draw() * 4);
      if (draw() < 0.95) await importEntry(petId, quantity, draw() < 0.92 ? 'a' : 'p');
    }
    const requests = [repeated, ...others];
    return {
      requests,
      repeats: randomOne([[], [repeated], [repeated, repeated]]),
      last: requests,
      send({ name, key, deltas }, say) {
        const shown = deltas.map(({ petId, delta }) => `${petIds.indexOf(petId) + 1}:${delta}`);
        say(`adjusts ${shown} with the key ${key} of ${name}`);
        return store.adjust(deltas, key);
      },
      judge: (states) => judge(requests, states),
    };
  };
};

function* judge(requests: readonly Adjustment[], states: readonly State[]): Generator<string> {
  for (const same of Map.groupBy(requests, ({ key }) => key).values()) {
    const outcomes = same.flatMap((request) =>
      request.attempts.filter(isOutcome).map(({ error }) => ({ request, error })),
    );
    if (same.flatMap(({ effects }) => effects).length > 1) yield 'A key has two effects.';
    // What a refusal says, which each replay repeats.
    const texts = outcomes.map(({ error }) => error && toJson([error.message, error.refused]));
    if (new Set(texts).size > 1) yield 'A key has two outcomes.';
    if (new Set(outcomes.map(({ request }) => request)).size > 1) yield 'A key has two requests.';
    if (outcomes.length === 0) yield 'A key has no outcome.';
  }
  for (const request of requests) {
    for (const { state } of request.effects) yield* judgeEffect(request, states, state);
    for (const attempt of request.attempts) yield* judgeResponse(request, attempt, states);
    if (request.attempts.at(-1)?.status === 503) yield 'A 503 comes although no call failed.';
  }
}

function isOutcome({ status }: Attempt<AdjustmentResult>): boolean {
  return status === 200 || status === 404 || status === 409;
}

function toItems(state: State | undefined): Map<bigint, InventoryItem> {
  return new Map([...(state ?? [])].map(([petId, { item }]) => [petId, item]));
}

/** All of its deltas, and nothing else. */
function* judgeEffect(
  { deltas }: Adjustment,
  states: readonly State[],
  state: number,
): Generator<string> {
  const expected = toItems(states[state - 1]);
  if (refuse(deltas, states[state - 1])) yield 'An effect is not allowed.';
  for (const { petId, delta } of deltas) {
    const item = expected.get(petId);
    if (!item) return yield 'An adjustment creates an entry.';
    expected.set(petId, { ...item, quantity: item.quantity + delta });
  }
  if (!isDeepStrictEqual(toItems(states[state]), expected)) {
    yield 'An effect is not what the request asks for.';
  }
}

/** The code of the refusal, or nothing. */
function refuse(deltas: Adjustment['deltas'], state?: State): RefusalCode | undefined {
  const codes = deltas.map(({ petId, delta }): RefusalCode | undefined => {
    const { quantity, status } = state?.get(petId)?.item ?? {};
    if (quantity === undefined) return 'not_found';
    if (delta > 0) return quantity + delta > MAX_QUANTITY ? 'quantity_out_of_range' : undefined;
    if (status !== 'available') return 'not_for_sale';
    return quantity + delta < 0 ? 'insufficient_stock' : undefined;
  });
  return refusalCodes.find((code) => codes.includes(code));
}

function* judgeResponse(
  { deltas, effects: [effect], since }: Adjustment,
  attempt: Attempt<AdjustmentResult>,
  states: readonly State[],
): Generator<string> {
  const { status, returned, error, until = 0 } = attempt;
  const isEffective = effect !== undefined && effect.state <= until;
  if (status === 200) {
    if (!isEffective) return yield 'A 200 has no effect.';
    if (returned?.isReplay !== (effect.by !== attempt)) yield 'A replay is not marked as one.';
    const later = states.slice(effect.state, until + 1);
    const wrong = deltas.some(({ petId }, index) => {
      const item = returned?.items[index];
      return !later.some((state) => isDeepStrictEqual(state.get(petId)?.item, item));
    });
    if (wrong) yield 'A 200 has entries that never were so.';
  }
  if (status === 404 || status === 409) {
    if (effect) yield 'A refused request has an effect.';
    const seen = states.slice(since, until + 1);
    const isRefused = seen.some((state) => refuse(deltas, state));
    // A pet that DynamoDB did not report because of a conflict may have a code that goes first.
    const codes = deltas.flatMap((delta) => seen.map((state) => refuse([delta], state)));
    if (!isRefused || !codes.includes(error?.code)) yield 'A refusal comes without a reason.';
  }
  if (status === 422 && effect) yield 'A request with a 422 has an effect.';
  if (status === 503 && error?.message.includes('was applied') && !isEffective) {
    yield 'A 503 reports a wrong effect.';
  }
}
