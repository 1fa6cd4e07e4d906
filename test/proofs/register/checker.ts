/** An update as the client sent it. */
export interface Write {
  readonly kind: 'write';
  /** Identifies the request: its retries have the same count, and no other request does. */
  readonly quantity: number;
  /** The tag that the entry must have; without it, any state will do. */
  readonly ifMatch?: string;
  /** The `Idempotency-Key`; without it, the request is never retried. */
  readonly key?: string;
}

/** A client's request for an entry: an update, or a read of its state and tag. */
export type Input =
  | Write
  /** Perhaps by `GET /inventory`, in place of its own path. */
  | { readonly kind: 'read'; readonly isListed?: boolean };

export type Outcome =
  /** 200, with the state in the response: the one that was read, or the one that the update made. */
  | ({ readonly kind: 'ok' } & Entry)
  /** 412, with the entry's tag at that time. */
  | { readonly kind: 'refused'; readonly tag: string }
  /** A lost connection or a 5xx: it may take effect at any time after it was sent, or never. */
  | { readonly kind: 'unknown'; readonly reason?: 'killed' | 'client left' | '5xx' };

/** One request for one entry. Times are of one clock. */
export interface Operation {
  readonly input: Input;
  /** When the client began to send it. */
  readonly invoked: number;
  /** When the client had the response or gave up; `Infinity` for an unknown outcome. */
  readonly responded: number;
  readonly outcome: Outcome;
}

/** A state of the entry. No tag and no count recurs after the entry has had another. */
interface Entry {
  readonly quantity: number;
  readonly tag: string;
}

/** Something that no order of the operations can explain. */
class Contradiction extends Error {}

/**
 * Whether the operations on one entry have an order in which they follow the contract, each between its request
 * and its response. An update sets the count and gives a new tag. With `If-Match`, it does so only if the entry has
 * that tag. A 412 has the entry's tag, which is another. A retry with the same key changes nothing more. A read
 * returns count and tag.
 *
 * Since no state recurs, each operation belongs to the one state that it saw or made. So no order has to be searched
 * for: it is enough to compare states in pairs, as Gibbons and Korach show in "Testing Shared Memories":
 * https://doi.org/10.1137/S0097539794279614
 * @param history begins with a read before all other operations
 * @returns why no order explains the history, or nothing
 */
export function findContradiction([first, ...others]: readonly Operation[]): string | undefined {
  if (first?.outcome.kind !== 'ok') throw new Error('The history begins with no read.');
  // As if by the update that made the state.
  const input = { kind: 'write', quantity: first.outcome.quantity } as const;
  try {
    const chains = toChains(toStates([{ ...first, input }, ...others]));
    for (const [index, one] of chains.entries()) {
      const other = chains
        .slice(index + 1)
        .find((other) => mustPrecede(one, other) && mustPrecede(other, one));
      if (other)
        throw new Contradiction(`the entry had ${one.tags} before and after ${other.tags}`);
    }
    return undefined;
  } catch (error) {
    if (error instanceof Contradiction) return error.message;
    throw error;
  }
}

/** A state of the entry, or several of which each must follow the one before at once. */
interface Stay {
  readonly tags: readonly string[];
  /** When the first of its operations had its response, and when the last was sent. */
  readonly firstResponse: number;
  readonly lastRequest: number;
}

interface State extends Stay {
  /** The tag of the state before it, if its update had `If-Match`. */
  readonly after?: string | undefined;
}

function mustPrecede(one: Stay, other: Stay): boolean {
  return one.firstResponse < other.lastRequest;
}

/** The states that any response shows. */
function toStates(history: readonly Operation[]): State[] {
  const quantityOf = new Map<string, number>();
  const tagOf = new Map<number, string>();
  const sights: (Operation & { readonly tag: string })[] = [];
  const requests = new Map<number, Operation[]>();
  for (const operation of history) {
    const { input, outcome } = operation;
    const request = input.kind === 'write' ? input.quantity : undefined;
    if (request !== undefined) requests.set(request, [...(requests.get(request) ?? []), operation]);
    if (outcome.kind === 'unknown') continue;
    const { tag } = outcome;
    if (outcome.kind === 'ok') {
      const { quantity } = outcome;
      if (request !== undefined && request !== quantity) {
        throw new Contradiction(`an update to ${request} got the count ${quantity}`);
      }
      learn(quantityOf, tag, quantity, `the tag ${tag} came with two counts`);
      learn(tagOf, quantity, tag, `the count ${quantity} came with two tags`);
    } else if (input.kind === 'read' || (input.ifMatch ?? tag) === tag) {
      throw new Contradiction(`an update to ${request} was refused without a reason`);
    }
    if (input.kind === 'read' || outcome.kind === 'refused') sights.push({ ...operation, tag });
  }
  const sightsOf = Map.groupBy(sights, ({ tag }) => tag);
  // Of a tag that only a 412 shows, nobody knows the update: any one without a response can have made it.
  const orphans = [...sightsOf.keys()].filter((tag) => !quantityOf.has(tag));
  const lost = [...requests.values()].filter((attempts) =>
    attempts.every(
      ({ input, outcome }) => outcome.kind === 'unknown' && !tagOf.has((input as Write).quantity),
    ),
  );
  if (orphans.length > lost.length) throw new Contradiction(`no update made one of ${orphans}`);
  const earliest = Math.min(...lost.flat().map(({ invoked }) => invoked));

  function toOrigin(tag: string): { from: number; until: number; after?: string | undefined } {
    const quantity = quantityOf.get(tag);
    if (quantity === undefined) return { from: earliest, until: Infinity };
    const attempts = requests.get(quantity);
    if (!attempts) throw new Contradiction(`no update made the count ${quantity}`);
    // Its tag was gone then, and no tag recurs.
    if (attempts.some(({ outcome }) => outcome.kind === 'refused')) {
      throw new Contradiction(`the update to ${quantity} took effect and was refused`);
    }
    return {
      from: Math.min(...attempts.map(({ invoked }) => invoked)),
      until: Math.min(...attempts.map(({ responded }) => responded)),
      after: (attempts[0] as Operation & { input: Write }).input.ifMatch,
    };
  }

  return [...quantityOf.keys(), ...orphans].map((tag) => {
    const { from, until, after } = toOrigin(tag);
    const seen = sightsOf.get(tag) ?? [];
    const firstResponse = Math.min(until, ...seen.map(({ responded }) => responded));
    if (firstResponse < from) throw new Contradiction(`a response had ${tag} before its update`);
    const lastRequest = Math.max(from, ...seen.map(({ invoked }) => invoked));
    return { tags: [tag], firstResponse, lastRequest, after };
  });
}

function learn<Key, Value>(known: Map<Key, Value>, key: Key, value: Value, complaint: string) {
  const before = known.get(key) ?? value;
  if (before !== value) throw new Contradiction(`${complaint}, ${before} and ${value}`);
  known.set(key, value);
}

/** Puts each state of an update with `If-Match` behind the state that it replaced. */
function toChains(states: readonly State[]): Stay[] {
  const followers = Map.groupBy(states, ({ after }) => after);
  const chains = (followers.get(undefined) ?? []).map((start) => {
    let chain: Stay = start;
    for (;;) {
      const [next, other] = followers.get(chain.tags.at(-1)) ?? [];
      if (other) throw new Contradiction(`two updates replaced ${other.after}`);
      if (!next) return chain;
      if (mustPrecede(next, chain)) {
        throw new Contradiction(`the entry had ${chain.tags} after ${next.tags}`);
      }
      chain = {
        tags: [...chain.tags, ...next.tags],
        firstResponse: Math.min(chain.firstResponse, next.firstResponse),
        lastRequest: Math.max(chain.lastRequest, next.lastRequest),
      };
    }
  });
  const placed = new Set(chains.flatMap(({ tags }) => tags));
  const unplaced = states.find(({ tags: [tag = ''] }) => !placed.has(tag));
  if (unplaced) throw new Contradiction(`the entry never had ${unplaced.after}`);
  return chains;
}
