import { isDeepStrictEqual } from 'node:util';
import type { InventoryEntry } from '../../../shared/store/inventoryEntry.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { type Attempt, type DefinePlans, type Request, type State, toRequest } from './schedule.ts';

/** Each time that it is sent, it is an update of its own. */
interface Update extends Request<InventoryEntry> {
  readonly petId: bigint;
  readonly quantity: number;
  /** The `If-Match`; drawn when it is sent first. */
  versions?: readonly string[] | undefined;
}

/**
 * Two clients update one entry. One sends a request up to three times, with a response or not, and once more in the
 * end. The other sends another request or two. Most have an `If-Match`.
 */
export const defineUpdatePlans: DefinePlans<Update, InventoryEntry> = (client) => {
  const store = defineInventoryUpdates(client, 'inventory');

  return async ({ draw, randomOne, petIds: [petId], importEntry, readState }) => {
    const known = new Set<string>();
    const update = (name: string, quantity: number) => ({ ...toRequest(name), petId, quantity });
    const repeated = update('A', 11);
    const others = [update('B', 12), update('C', 13)];
    if (draw() < 0.5) others.pop();
    const v = draw() < 0.5 ? { v: { B: 'AAAAAAA=' as never } } : {};
    if (draw() < 0.97) await importEntry(petId, 10, 'a', v);
    const requests: Update[] = [repeated, ...others];
    // An import of another status.
    const importSold = () => {
      const { item } = readState().get(petId) ?? {};
      return item && importEntry(petId, item.quantity, 's');
    };
    return {
      requests,
      repeats: randomOne([[], [repeated], [repeated, repeated]]),
      last: [repeated],
      ...(draw() < 0.2 && { disturb: importSold }),
      send(request, say) {
        const current = readState().get(petId)?.version;
        if (current) known.add(current);
        if (request.attempts.length === 1 && current && draw() < 0.6) {
          const some = [...known].filter((one) => one === current || draw() < 0.2);
          request.versions = draw() < 0.9 ? some : some.slice(0, 1);
        }
        const { quantity, versions } = request;
        say(`sets ${quantity}${versions ? `, If-Match ${versions}` : ''}`);
        return store.setQuantity({ petId, quantity, versions });
      },
      // An update without If-Match may have a second effect when its call is repeated, as the guide says.
      limitFate: ({ versions }, fate) =>
        !versions && (fate === 'lost' || fate === 'late') ? 'reset' : fate,
      *judge(states) {
        for (const request of requests) {
          for (const attempt of request.attempts) yield* judge(request, attempt, states);
        }
      },
    };
  };
};

function* judge(
  { petId, quantity, versions, effects }: Update,
  attempt: Attempt<InventoryEntry>,
  states: readonly State[],
): Generator<string> {
  const own = effects.filter(({ by }) => by === attempt);
  if (own.length > 1) yield 'An update has two effects.';
  for (const { state } of own) {
    const [before, after] = [states[state - 1]?.get(petId), states[state]?.get(petId)];
    if (!before || !isDeepStrictEqual(after?.item, { ...before.item, quantity })) {
      yield 'An effect is not what the update asks for.';
    }
    if (before && versions?.includes(before.version) === false) yield 'If-Match was ignored.';
  }
  const { status, returned, until = 0 } = attempt;
  const effect = own.find(({ state }) => state <= until);
  const current = states[until]?.get(petId);
  if (status === 200 && !effect) yield 'A 200 has no effect.';
  if (status === 200 && effect && !isDeepStrictEqual(states[effect.state]?.get(petId), returned)) {
    yield 'A 200 has another state than its effect made.';
  }
  if (status === 404 && (own.length > 0 || current)) {
    yield 'A 404 comes although the entry exists.';
  }
  if (status !== 412) return;
  if (own.length > 0) yield 'An update with a 412 has an effect.';
  if (!current || versions?.includes(current.version) !== false) {
    yield 'A 412 comes although the entry matches If-Match.';
  }
}
