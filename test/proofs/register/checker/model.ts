import { type Entry, type Operation, toRequestName } from './history.ts';

/** An entry, as far as a history tells. */
export interface State {
  readonly quantity: number;
  /** `undefined` until anybody is told of it: a history in which nobody is, is as good without it. */
  readonly tag: string | undefined;
}

export interface Model {
  /**
   * What an entry does, one move after the other.
   * @param isAnswered whether the move's request has had its effect, and is remembered
   * @returns the state after the move, the same one where nothing has changed; `undefined` where it cannot happen
   */
  step(state: State, move: Move, isAnswered: boolean): State | undefined;
}

/**
 * The contract of one entry: an update sets the count and gives a new tag, with `If-Match` only where the
 * entry has one of the tags; 412 tells the entry's tag, which is none of those; a request that is sent again
 * under its key changes nothing more; a read tells count and tag.
 * @param quantityOf the count that goes with each tag that anybody was told
 */
export function defineModel(quantityOf: ReadonlyMap<string, number>): Model {
  const canHave = ({ tag, quantity }: State, told: string) =>
    tag === undefined ? (quantityOf.get(told) ?? quantity) === quantity : tag === told;

  return {
    step(state, { operation: { asked, outcome }, isOptional, tag }, isAnswered) {
      if (asked.kind === 'read') {
        // With the tag goes the count.
        const isRight = outcome.kind === 'ok' && canHave(state, outcome.tag);
        return isRight ? toSeen(state, outcome.tag) : undefined;
      }
      const { quantity, ifMatch } = asked;
      if (outcome.kind === 'refused') {
        const isRight = ifMatch !== undefined && !ifMatch.includes(outcome.tag) && !isAnswered;
        return isRight && canHave(state, outcome.tag) ? toSeen(state, outcome.tag) : undefined;
      }
      if (isAnswered) return isOptional ? undefined : state;
      const canHappen = ifMatch
        ? ifMatch.some((one) => canHave(state, one))
        : // What nobody sees before it is overwritten need not have happened.
          state.tag !== undefined;
      return canHappen ? { quantity, tag } : undefined;
    },
  };
}

function toSeen(state: State, tag: string): State {
  return state.tag === tag ? state : { quantity: state.quantity, tag };
}

/** An operation, with what the rest of the history tells of it. */
export interface Move {
  readonly operation: Operation;
  /** Whether it can also never have happened. */
  readonly isOptional: boolean;
  /** The request with a key that it is an attempt of. */
  readonly request: string | undefined;
  /** The tag of the state that it makes; `undefined` where nobody was told. */
  readonly tag: string | undefined;
}

export interface Moves {
  readonly moves: readonly Move[];
  /** The one count that goes with each tag that anybody was told. */
  readonly quantityOf: ReadonlyMap<string, number>;
}

/** What no order of its operations could explain. */
export class Contradiction extends Error {
  override readonly name = 'Contradiction';
}

/**
 * The operations of a history that can have changed or seen the entry. What the contract says of answers alone
 * is looked at here: an update's answer has the count that was asked for, a tag never goes with two counts,
 * and one request under one key has one answer.
 * @throws {Contradiction}
 */
export function toMoves(history: readonly Operation[], first: Entry): Moves {
  const quantityOf = new Map([[first.tag, first.quantity]]);
  const answerOf = new Map<string, string>();
  for (const { asked, outcome } of history) {
    if (outcome.kind !== 'ok') continue;
    const { quantity, tag } = outcome;
    learn(quantityOf, tag, quantity, `the tag ${tag} came with two counts`);
    if (asked.kind === 'read') continue;
    if (asked.quantity !== quantity) {
      throw new Contradiction(`an update to ${asked.quantity} was answered with ${quantity}`);
    }
    const request = toRequestName(asked);
    if (request) learn(answerOf, request, tag, `the request ${request} has two answers`);
  }

  const moves = history.flatMap((operation): Move[] => {
    const { asked, outcome } = operation;
    const request = asked.kind === 'write' ? toRequestName(asked) : undefined;
    const isOptional = outcome.kind === 'unknown';
    if (isOptional && asked.kind === 'read') return [];
    // An unknown outcome that a repetition was told of has a tag, although nobody may have seen its state.
    const answer = request === undefined || !isOptional ? undefined : answerOf.get(request);
    return [{ operation, isOptional, request, tag: outcome.kind === 'ok' ? outcome.tag : answer }];
  });
  return { moves, quantityOf };
}

function learn<Value>(known: Map<string, Value>, name: string, value: Value, complaint: string) {
  const before = known.get(name);
  if (before !== undefined && before !== value) {
    throw new Contradiction(`${complaint}, ${before} and ${value}`);
  }
  known.set(name, value);
}

/** Which states the moves that are left want to find, and which they can make. */
interface Needs {
  /** The move has its place in the order. */
  take(move: Move): void;
  giveBack(move: Move): void;
  /**
   * Whether a move that is left, and must happen, can only happen in the state with this tag, which no move
   * that is left could make again: then this state must not go yet.
   * @param isSpent whether a move has its place, or its request has its answer, so that it makes nothing
   */
  isNeeded(tag: string, isSpent: (move: Move, index: number) => boolean): boolean;
  /** The moves, by index, that could tell anybody of a state with this count and a tag that nobody knows. */
  witnesses(quantity: number): readonly number[];
}

export function defineNeeds({ moves, quantityOf }: Moves): Needs {
  const needs = new Map<string, number>();
  const makers = Map.groupBy(
    [...moves.entries()].filter(
      ([
        ,
        {
          operation: { asked, outcome },
        },
      ]) => {
        return asked.kind === 'write' && outcome.kind !== 'refused';
      },
    ),
    // Where nobody was told the tag, it can be any that goes with the count.
    ([, { operation, tag }]) =>
      tag ?? (operation.asked.kind === 'write' && operation.asked.quantity),
  );

  function count(move: Move, difference: 1 | -1): void {
    const tag = toNeeded(move);
    if (tag !== undefined) needs.set(tag, (needs.get(tag) ?? 0) + difference);
  }

  const witnesses = Map.groupBy(
    [...moves.entries()].flatMap(([index, move]) =>
      toTold(move).map((tag) => [index, tag] as const),
    ),
    ([, tag]) => quantityOf.get(tag),
  );

  for (const move of moves) count(move, 1);
  return {
    witnesses: (quantity) =>
      [...(witnesses.get(quantity) ?? []), ...(witnesses.get(undefined) ?? [])].map(
        ([index]) => index,
      ),
    take: (move) => count(move, -1),
    giveBack: (move) => count(move, 1),
    isNeeded(tag, isSpent) {
      if ((needs.get(tag) ?? 0) === 0) return false;
      const quantity = quantityOf.get(tag);
      if (quantity === undefined) return false;
      const all = [...(makers.get(tag) ?? []), ...(makers.get(quantity) ?? [])];
      return all.every(([index, move]) => isSpent(move, index));
    },
  };
}

/** The tag that the entry must have for a move that must happen. */
function toNeeded({ operation: { asked, outcome }, request }: Move): string | undefined {
  if (outcome.kind === 'unknown') return undefined;
  if (asked.kind === 'read' || outcome.kind === 'refused') return outcome.tag;
  // A repetition needs no state at all.
  const { ifMatch = [] } = asked;
  return request === undefined && ifMatch.length === 1 ? ifMatch[0] : undefined;
}

/** The tags of which the entry must have one for a move. */
function toTold({ operation: { asked, outcome } }: Move): readonly string[] {
  if (outcome.kind === 'refused') return [outcome.tag];
  if (asked.kind === 'write') return asked.ifMatch ?? [];
  return outcome.kind === 'ok' ? [outcome.tag] : [];
}
