import { type Entry, type Operation, toRequestName } from './history.ts';

/** An operation in one of the ways in which it can have happened. */
export interface Move {
  readonly operation: Operation;
  /** Whether it can also never have happened. */
  readonly isOptional: boolean;
  /** The request with a key that it is an attempt of. */
  readonly request: string | undefined;
  /** Whether it leaves no answer behind for its request: see `toMoves`. */
  readonly isForgotten: boolean;
  /** The tag of the state that it makes; `undefined` where nobody was told. */
  readonly tag: string | undefined;
  /** Whether a history in which it happened, and nobody saw, is as good without it. */
  readonly isDroppable: boolean;
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
 * The ways in which the operations of a history can have happened. What the contract says of answers alone
 * is looked at here: an update's answer has the count that was asked for, a tag never goes with two counts,
 * and one request under one key has one answer.
 * @param isForgetful allows what the guide "Safe updates" says of a service that dies between an update and
 *   the writing down of its answer: an attempt that the kill may have cut takes effect and is not remembered
 * @throws {Contradiction}
 */
export function toMoves(history: readonly Operation[], first: Entry, isForgetful: boolean): Moves {
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
    const tag = request === undefined ? undefined : answerOf.get(request);
    const known = { operation, isOptional: false, request, isForgotten: false, isDroppable: false };
    if (outcome.kind !== 'unknown') {
      return [{ ...known, tag: outcome.kind === 'ok' ? outcome.tag : undefined }];
    }
    if (asked.kind === 'read') return [];
    // One that has an answer matters to the repetitions that got it, although nobody saw its state.
    const remembered = { ...known, isOptional: true, tag, isDroppable: tag === undefined };
    const isCut = isForgetful && request !== undefined && operation.isCutByKill === true;
    const forgotten = { ...remembered, tag: undefined, isForgotten: true, isDroppable: true };
    return [remembered, ...(isCut ? [forgotten] : [])];
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
