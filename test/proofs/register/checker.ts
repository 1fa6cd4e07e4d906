/** An update as the client sent it. */
export interface Write {
  readonly kind: 'write';
  /** Identifies the request: its retries have the same count, and no other request does. */
  readonly quantity: number;
  /** The entry must have one of these tags; without them, any state will do. */
  readonly ifMatch?: readonly string[];
  /** The `Idempotency-Key`; without it, the request is never retried. */
  readonly key?: string;
}

/** A client's request for an entry: an update, or a read of its state and tag. */
export type Input = Write | Read;

interface Read {
  readonly kind: 'read';
  /** Whether it reads the entry by `GET /inventory`, in place of its own path. */
  readonly isListed?: boolean;
}

export type Outcome =
  /** 200, with the state in the response: the one that was read, or the one that the update made. */
  | { readonly kind: 'ok'; readonly quantity: number; readonly tag: string }
  /** 412, with the entry's tag at that time. */
  | { readonly kind: 'refused'; readonly tag: string }
  /** A lost connection or a 5xx: it may take effect at any time after it was sent, or never. */
  | { readonly kind: 'unknown' };

/** One request for one entry. Times are of one clock, and unique. */
export interface Operation {
  readonly input: Input;
  /** When the client began to send it. */
  readonly invoked: number;
  /** When the client had the response or gave up; `Infinity` for an unknown outcome. */
  readonly responded: number;
  readonly outcome: Outcome;
}

/** A state of the entry. No tag and no count recurs after the entry has had another. */
export interface Entry {
  readonly quantity: number;
  readonly tag: string;
}

interface Verdict {
  /** Undecided if the search reached its bound. */
  readonly kind: 'linearizable' | 'violation' | 'undecided';
  readonly steps: number;
  /** Why no order explains the history, or where the longest explanation of it ends. */
  readonly reason: string;
}

/**
 * Whether the operations on one entry have an order in which they follow the contract, each between its request
 * and its response. An update sets the count and gives a new tag. With `If-Match`, it does so only if the entry has
 * one of the tags. A 412 has the entry's tag, which is none of those. A retry with the same key changes nothing
 * more. A read returns count and tag.
 *
 * Since no state recurs, only updates are ordered: an operation that saw a state has its place while the entry has
 * that state, or never. This is Wing and Gong's search with Lowe's memory of tried states:
 * http://www.cs.ox.ac.uk/people/gavin.lowe/LinearizabiltyTesting/paper.pdf
 * @param first the entry's state before the history
 * @param maxSteps some ten seconds by default
 */
export function check(history: readonly Operation[], first: Entry, maxSteps = 2_000_000): Verdict {
  try {
    return search(toPuzzle(history, first), first, maxSteps);
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error;
    return { kind: 'violation', steps: 0, reason: error.message };
  }
}

/** Something that no order of the operations can explain. */
class Contradiction extends Error {}

/** An effect that a request had between two times, or may have had if it is optional. */
interface Effect {
  readonly from: number;
  readonly until: number;
  readonly ifMatch: readonly string[] | undefined;
  readonly request: number;
  readonly tag: string;
  readonly isOptional: boolean;
  /** The first response that shows it. */
  readonly due: number;
}

/** A response said that the entry has this tag. */
interface Sight {
  readonly from: number;
  readonly until: number;
  readonly tag: string;
  /** The request that this response refused. */
  readonly request: number | undefined;
}

/**
 * @returns the effects, sorted by their earliest time, and all that must have a place, sorted by its end
 * @throws {Contradiction}
 */
function toPuzzle(history: readonly Operation[], first: Entry) {
  const quantityOf = new Map([[first.tag, first.quantity]]);
  const tagOf = new Map([[first.quantity, first.tag]]);
  const sights: Sight[] = [];
  const requests = new Map<number, Operation[]>();
  for (const operation of history) {
    const { input, outcome, invoked: from, responded: until } = operation;
    const request = input.kind === 'write' ? input.quantity : undefined;
    if (request !== undefined) {
      requests.set(request, [...(requests.get(request) ?? []), operation]);
    }
    if (outcome.kind === 'ok') {
      const { quantity, tag } = outcome;
      if (request !== undefined && request !== quantity) {
        throw new Contradiction(`an update to ${request} got the count ${quantity}`);
      }
      learn(quantityOf, tag, quantity, `the tag ${tag} came with two counts`);
      learn(tagOf, quantity, tag, `the count ${quantity} came with two tags`);
    }
    const isSight = outcome.kind === 'refused' || (input.kind === 'read' && outcome.kind === 'ok');
    if (!isSight) continue;
    if (input.kind === 'write' && !(input.ifMatch && !input.ifMatch.includes(outcome.tag))) {
      throw new Contradiction(`an update to ${request} was refused without a reason`);
    }
    sights.push({ from, until, tag: outcome.tag, request });
  }
  const sightsOf = Map.groupBy(sights, ({ tag }) => tag);
  const toDue = (tag: string, until: number) =>
    Math.min(until, ...(sightsOf.get(tag) ?? []).map((sight) => sight.until));
  // Tags that only a 412 shows: any update without a response can have made them.
  const conditions = history.flatMap(
    ({ input }) => (input.kind === 'write' && input.ifMatch) || [],
  );
  const named = [...conditions, ...sightsOf.keys()];
  const orphans = new Set(named.filter((tag) => !quantityOf.has(tag)));
  const effects = [...requests].flatMap(([request, attempts]): Effect[] => {
    const able = attempts.filter(({ outcome }) => outcome.kind !== 'refused');
    const acknowledged = able.filter(({ outcome }) => outcome.kind === 'ok');
    const { ifMatch } = (attempts[0] as Operation).input as Write;
    const from = Math.min(...able.map(({ invoked }) => invoked));
    const until = Math.min(...acknowledged.map(({ responded }) => responded));
    const tag = tagOf.get(request);
    const tags = tag === undefined ? [...orphans] : [tag];
    return tags.map((tag) => {
      const [isOptional, due] = [orphans.has(tag), toDue(tag, until)];
      return { from, until, ifMatch, request, tag, isOptional, due };
    });
  });
  const musts: (Effect | Sight)[] = [...effects.filter(({ isOptional }) => !isOptional), ...sights];
  effects.sort((one, other) => one.from - other.from);
  musts.sort((one, other) => one.until - other.until);
  return { effects, sights: sightsOf, musts };
}

function learn<Key, Value>(known: Map<Key, Value>, key: Key, value: Value, complaint: string) {
  const before = known.get(key) ?? value;
  if (before !== value) throw new Contradiction(`${complaint}, ${before} and ${value}`);
  known.set(key, value);
}

/** A state of the entry in a tried order, with all operations that saw it. */
interface Stay {
  readonly effect: Effect | undefined;
  /** Placed together with it. */
  readonly placed: readonly (Effect | Sight)[];
  /** The index of the first of `musts` without a place. */
  readonly next: number;
  /** The index of the first of `effects` without a place. */
  readonly firstOpen: number;
  /** The effects that can come next, the best last. */
  readonly candidates: Effect[];
}

function search(
  { effects, sights, musts }: ReturnType<typeof toPuzzle>,
  first: Entry,
  maxSteps: number,
): Verdict {
  const placed = new Set<Effect | Sight>();
  /** The requests that took effect, and their tags. */
  const spent = new Set<number | string>();
  const tried = new Set<string>();
  const stack: Stay[] = [];
  let furthest = { next: -1, reason: '' };
  let steps = 0;

  /** Places the operations that saw the state, as far as they can be now, and finds what can replace it. */
  function enter(tag: string, effect?: Effect): Stay {
    const own: (Effect | Sight)[] = effect ? [effect] : [];
    if (effect) {
      placed.add(effect);
      spent.add(effect.request).add(tag);
    }
    const itsSights = (sights.get(tag) ?? []).filter((sight) => !placed.has(sight));
    let { next } = stack.at(-1) ?? { next: 0 };
    for (let isMoving = true; isMoving; ) {
      isMoving = false;
      while (next < musts.length && placed.has(musts[next] as Effect)) next += 1;
      for (const sight of itsSights) {
        const isTooLate = sight.request !== undefined && spent.has(sight.request);
        if (placed.has(sight) || sight.from > toSoonest(next) || isTooLate) continue;
        placed.add(sight);
        own.push(sight);
        isMoving = true;
      }
    }
    if (next > furthest.next) furthest = { next, reason: toReason(tag, musts[next]) };
    let { firstOpen } = stack.at(-1) ?? { firstOpen: 0 };
    while (firstOpen < effects.length && placed.has(effects[firstOpen] as Effect)) firstOpen += 1;
    // An operation that finds no place in this state now never finds one.
    const isDead = itsSights.some((sight) => !placed.has(sight));
    const candidates = isDead ? [] : toCandidates(tag, next, firstOpen);
    return { effect, placed: own, next, firstOpen, candidates };
  }

  /** The time of the first response without a place: before it, anything without a place may happen. */
  function toSoonest(next: number): number {
    return musts[next]?.until ?? Number.POSITIVE_INFINITY;
  }

  function toCandidates(tag: string, next: number, firstOpen: number): Effect[] {
    const candidates: Effect[] = [];
    let name = `${tag} ${firstOpen}`;
    for (let index = firstOpen; index < effects.length; index += 1) {
      const effect = effects[index] as Effect;
      if (effect.from > toSoonest(next)) break;
      if (placed.has(effect)) name += ` ${index}`;
      const isSpent = spent.has(effect.request) || spent.has(effect.tag);
      if (!isSpent && (effect.ifMatch?.includes(tag) ?? true)) candidates.push(effect);
    }
    // The same updates in another order lead to the same state.
    if (tried.has(name)) return [];
    tried.add(name);
    return candidates.sort(
      (one, other) => Number(!!one.ifMatch) - Number(!!other.ifMatch) || other.due - one.due,
    );
  }

  stack.push(enter(first.tag));
  for (let stay = stack.at(-1); stay; stay = stack.at(-1)) {
    if (stay.next === musts.length) return { kind: 'linearizable', steps, reason: '' };
    const effect = stay.candidates.pop();
    if (effect) {
      steps += 1;
      if (steps > maxSteps) return { kind: 'undecided', steps, reason: furthest.reason };
      stack.push(enter(effect.tag, effect));
      continue;
    }
    stack.pop();
    for (const one of stay.placed) placed.delete(one);
    if (stay.effect) {
      spent.delete(stay.effect.request);
      spent.delete(stay.effect.tag);
    }
  }
  return { kind: 'violation', steps, reason: furthest.reason };
}

function toReason(tag: string, open: Effect | Sight | undefined): string {
  return `${JSON.stringify(open)} fits no state of the entry at that time; the last tag was ${tag}`;
}
