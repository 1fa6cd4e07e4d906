import { defineConfiguration } from './configuration.ts';
import type { Entry, Operation } from './history.ts';
import type { State } from './model.ts';
import { Contradiction, type Move, toMoves } from './moves.ts';

export type Verdict =
  | { readonly kind: 'linearizable'; readonly steps: number }
  | {
      /** Undecided where the bound was reached first. */
      readonly kind: 'violation' | 'undecided';
      readonly steps: number;
      /** Why no order explains the history, or where the longest explanation of it ends. */
      readonly reason: string;
    };

export interface CheckOptions {
  /** How many moves may be tried; 20,000,000 by default, some ten seconds. */
  readonly mostSteps?: number;
}

/**
 * Whether the operations on one entry can be put into an order, each between its call and its answer, in
 * which they do what the contract says of one after the other: Wing and Gong's search with Lowe's memory of
 * what was tried (http://www.cs.ox.ac.uk/people/gavin.lowe/LinearizabiltyTesting/paper.pdf).
 * @param first the state that the entry had before
 */
export function check(
  history: readonly Operation[],
  first: Entry,
  { mostSteps = 20_000_000 }: CheckOptions = {},
): Verdict {
  try {
    return search(history, first, mostSteps);
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error;
    return { kind: 'violation', steps: 0, reason: error.message };
  }
}

function search(history: readonly Operation[], first: Entry, mostSteps: number): Verdict {
  const configuration = defineConfiguration(toMoves(history, first), first);
  let furthest = { left: Number.POSITIVE_INFINITY, reason: 'no operation found a place' };
  let steps = 0;
  let event = configuration.next();
  while (configuration.left > 0) {
    if (steps >= mostSteps) return { kind: 'undecided', steps, reason: furthest.reason };
    if (event?.isCall) {
      steps += 1;
      event = configuration.take(event) ? configuration.next() : configuration.after(event);
      continue;
    }
    // At an answer whose operation found no place before it.
    const { left, state } = configuration;
    if (left < furthest.left && event) furthest = { left, reason: toReason(state, event.move) };
    const back = configuration.takeBack();
    if (!back) return { kind: 'violation', steps, reason: furthest.reason };
    event = configuration.after(back);
  }
  return { kind: 'linearizable', steps };
}

function toReason({ quantity, tag }: State, { operation }: Move): string {
  const { asked, outcome, invoked, answered } = operation;
  const entry = `count ${quantity}, tag ${tag ?? 'unknown'}`;
  return `${JSON.stringify(asked)}, sent at ${invoked} and answered ${JSON.stringify(outcome)} at ${answered}, fits no state of the entry at that time, which was at last: ${entry}`;
}
