import type { Move, Moves } from './moves.ts';

/** Which states the moves that are left want to find, and which they can make. */
export interface Needs {
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
