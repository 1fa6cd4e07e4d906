import type { Entry, Operation } from './history.ts';
import {
  Contradiction,
  defineModel,
  defineNeeds,
  type Move,
  type Moves,
  type State,
  toMoves,
} from './model.ts';
import { defineLinearized, defineTimeline, type TimelineEvent } from './timeline.ts';

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
  readonly maxSteps?: number;
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
  { maxSteps = 20_000_000 }: CheckOptions = {},
): Verdict {
  try {
    return search(history, first, maxSteps);
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error;
    return { kind: 'violation', steps: 0, reason: error.message };
  }
}

function search(history: readonly Operation[], first: Entry, maxSteps: number): Verdict {
  const configuration = defineConfiguration(toMoves(history, first), first);
  let furthest = { left: Number.POSITIVE_INFINITY, reason: 'no operation found a place' };
  let steps = 0;
  let event = configuration.next();
  while (configuration.left > 0) {
    if (steps >= maxSteps) return { kind: 'undecided', steps, reason: furthest.reason };
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

/** The beginning of an order of a history's moves: which have their place, and the state that they lead to. */
interface Configuration {
  readonly state: State;
  /** How many moves that must happen have no place yet. */
  readonly left: number;
  /**
   * Gives a move the next place.
   * @returns whether it can have it, and what comes of it was not tried before
   */
  take(call: TimelineEvent): boolean;
  /** Takes the last place back. @returns the move, after which the next one is to be tried, if there is one */
  takeBack(): TimelineEvent | undefined;
  /**
   * What to try first: a move that can happen now and changes nothing, if there is one, since no later place
   * could be better for it; otherwise the first of all.
   */
  next(): TimelineEvent | undefined;
  /** What to try behind another one. */
  after(event: TimelineEvent): TimelineEvent | undefined;
}

interface Taken {
  readonly call: TimelineEvent;
  readonly before: State;
  /** The request that got its answer by this move. */
  readonly answers: string | undefined;
  /** What is in the order from this move on, itself and what can no longer happen. */
  readonly settled: readonly number[];
  /** Whether no other move need be tried in its place. */
  readonly isFree: boolean;
}

function defineConfiguration(all: Moves, first: Entry): Configuration {
  const { moves } = all;
  const model = defineModel(all.quantityOf);
  const needs = defineNeeds(all);
  const timeline = defineTimeline(moves);
  const linearized = defineLinearized(moves);
  const answered = new Set<string>();
  const tried = new Set<string>();
  const optional = [...moves.keys()].filter((index) => moves[index]?.isOptional);
  const attempts = Map.groupBy(optional, (index) => moves[index]?.request);
  const taken: Taken[] = [];
  let state: State = first;
  let left = moves.length - optional.length;

  const hasAnswer = ({ request }: Move) => request !== undefined && answered.has(request);

  /** Whether another move could come next that tells somebody of a state. */
  function hasWitness(after: State, own: number): boolean {
    return needs.witnesses(after.quantity).some((index) => {
      const move = moves[index];
      if (!move || index === own || linearized.has(index)) return false;
      return model.step(after, move, hasAnswer(move)) && timeline.isCallable(move);
    });
  }

  /** Whether the state that goes is one that another move has to find. */
  function isTooEarly(after: State): boolean {
    const isSpent = (move: Move, index: number) => linearized.has(index) || hasAnswer(move);
    if (state.tag === undefined || after.tag === state.tag) return false;
    return needs.isNeeded(state.tag, isSpent);
  }

  function undo({ call, before, answers, settled }: Omit<Taken, 'isFree'>): void {
    for (const index of settled) linearized.delete(index);
    if (answers !== undefined) answered.delete(answers);
    needs.giveBack(call.move);
    state = before;
  }

  return {
    get state() {
      return state;
    },
    get left() {
      return left;
    },
    after: timeline.after,

    take(call) {
      const { move, index } = call;
      const isAnswered = hasAnswer(move);
      const after = model.step(state, move, isAnswered);
      if (!after || (after.tag === undefined && !hasWitness(after, index))) return false;
      const answers = isAnswered ? undefined : toAnswered(move);
      // Whichever attempt it was that had the effect, what follows is the same.
      const others =
        answers === undefined ? [] : (attempts.get(answers) ?? []).filter((one) => one !== index);
      const settled = [index, ...others].filter((one) => !linearized.has(one));
      const step = { call, before: state, answers, settled, isFree: after === state };
      for (const one of settled) linearized.add(one);
      needs.take(move);
      const name = `${after.quantity} ${after.tag} ${linearized.name()}`;
      const isInVain = tried.has(name) || isTooEarly(after);
      if (answers !== undefined) answered.add(answers);
      state = after;
      if (isInVain) {
        undo(step);
        return false;
      }
      tried.add(name);
      taken.push(step);
      timeline.lift(call);
      if (!move.isOptional) left -= 1;
      return true;
    },

    takeBack() {
      for (let last = taken.pop(); last; last = taken.pop()) {
        const { call, isFree } = last;
        timeline.unlift(call);
        undo(last);
        if (!call.move.isOptional) left += 1;
        if (!isFree) return call;
      }
      return undefined;
    },

    next() {
      for (let event = timeline.first(); event?.isCall; event = timeline.after(event)) {
        const { move } = event;
        if (!move.isOptional && model.step(state, move, hasAnswer(move)) === state) return event;
      }
      return timeline.first();
    },
  };
}

/** The request that has its answer from this move on. */
function toAnswered({ operation: { outcome }, request }: Move): string | undefined {
  return outcome.kind === 'refused' ? undefined : request;
}
