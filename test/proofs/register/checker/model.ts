import type { Move } from './moves.ts';

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
