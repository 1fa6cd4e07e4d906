import type { Move } from './model.ts';

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

/** Which moves have their place in the order so far. */
interface Linearized {
  add(index: number): void;
  delete(index: number): void;
  has(index: number): boolean;
  /** The same for the same moves, and no others. */
  name(): string;
}

/**
 * A bit for each move. Since those that must happen are taken nearly in the order of their calls, only the
 * bits from the first that is missing to the last that is there go into the name.
 */
export function defineLinearized(moves: readonly Move[]): Linearized {
  const must = moves.flatMap(({ isOptional }, index) => (isOptional ? [] : [index]));
  const may = moves.flatMap(({ isOptional }, index) => (isOptional ? [index] : []));
  must.sort((one, other) => toCall(moves[one]) - toCall(moves[other]));
  const mayFrom = Math.ceil(must.length / 8) * 8;
  const places = new Map<number, number>();
  for (const [place, index] of must.entries()) places.set(index, place);
  for (const [place, index] of may.entries()) places.set(index, mayFrom + place);
  const bits = Buffer.alloc(mayFrom / 8 + Math.ceil(may.length / 8));
  let whole = 0;
  let end = 0;

  const set = (index: number, isThere: boolean) => {
    const place = places.get(index) ?? 0;
    const byte = place >> 3;
    const mask = 1 << (place & 7);
    bits[byte] = isThere ? (bits[byte] ?? 0) | mask : (bits[byte] ?? 0) & ~mask;
    if (place >= mayFrom) return;
    if (isThere) end = Math.max(end, byte + 1);
    else whole = Math.min(whole, byte);
  };

  return {
    add: (index) => set(index, true),
    delete: (index) => set(index, false),
    has(index) {
      const place = places.get(index) ?? 0;
      return ((bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0;
    },
    name() {
      while (bits[whole] === 0xff && whole < mayFrom / 8) whole += 1;
      while (end > whole && bits[end - 1] === 0) end -= 1;
      return `${whole} ${bits.toString('latin1', whole, end)} ${bits.toString('latin1', mayFrom / 8)}`;
    },
  };
}

function toCall(move: Move | undefined): number {
  return move?.operation.invoked ?? 0;
}
