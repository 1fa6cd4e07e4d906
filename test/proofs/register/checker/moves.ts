import { type Entry, type Operation, toRequestName } from './history.ts';

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
