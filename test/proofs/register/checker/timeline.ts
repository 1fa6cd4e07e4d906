import type { Move } from './moves.ts';

/** The calls and the answers that are left of a history, in the order of their times. */
export interface Timeline {
  /** The first of them; `undefined` when nothing is left. */
  first(): TimelineEvent | undefined;
  /** That which comes behind. */
  after(event: TimelineEvent): TimelineEvent | undefined;
  /** Whether a move was sent before the first answer that is left. */
  isCallable(move: Move): boolean;
  /** Takes a move out, its call and its answer. */
  lift(call: TimelineEvent): void;
  /** Puts it back; those that were lifted last come first. */
  unlift(call: TimelineEvent): void;
}

export interface TimelineEvent {
  readonly move: Move;
  /** Which of the moves it is. */
  readonly index: number;
  /** The answer, of a call that has one. */
  readonly answer: TimelineEvent | undefined;
  readonly isCall: boolean;
  readonly time: number;
}

interface Linked extends TimelineEvent {
  answer: Linked | undefined;
  previous: Linked | undefined;
  next: Linked | undefined;
}

/** A doubly linked list, from which to take a move and to put it back costs the same however long it is. */
export function defineTimeline(moves: readonly Move[]): Timeline {
  const events = moves.flatMap((move, index): Linked[] => {
    const { invoked, answered } = move.operation;
    const toEvent = (isCall: boolean, time: number): Linked => {
      return { move, index, isCall, time, answer: undefined, previous: undefined, next: undefined };
    };
    const call = toEvent(true, invoked);
    // What may never have happened may also happen at the very end.
    if (move.isOptional) return [call];
    call.answer = toEvent(false, answered);
    return [call, call.answer];
  });
  events.sort((one, other) => one.time - other.time);
  let head: Linked | undefined = events[0];
  for (const [index, event] of events.entries()) {
    event.previous = events[index - 1];
    event.next = events[index + 1];
  }

  function remove({ previous, next }: Linked): void {
    if (previous) previous.next = next;
    else head = next;
    if (next) next.previous = previous;
  }

  function restore(event: Linked): void {
    if (event.previous) event.previous.next = event;
    else head = event;
    if (event.next) event.next.previous = event;
  }

  return {
    first: () => head,
    isCallable({ operation }) {
      let event = head;
      while (event?.isCall) event = event.next;
      return event === undefined || operation.invoked < event.time;
    },
    after: (event) => (event as Linked).next,
    lift(call) {
      remove(call as Linked);
      if (call.answer) remove(call.answer as Linked);
    },
    unlift(call) {
      if (call.answer) restore(call.answer as Linked);
      restore(call as Linked);
    },
  };
}
