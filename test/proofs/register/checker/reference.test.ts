import fc from 'fast-check';
import { expect, it } from 'vitest';
import { check } from './checker.ts';
import {
  type Asked,
  type Entry,
  first,
  lost,
  type Operation,
  type Outcome,
  toRequestName,
  write,
} from './history.ts';
import { toMoves } from './model.ts';
import { defineLinearized } from './timeline.ts';

const begun: Entry = { quantity: 1, tag: 'A' };
const tag = fc.constantFrom('A', 'B', 'C');
const quantity = fc.constantFrom(1, 2);

/** Operations with times of their own, half of them answered as the entry would, so that both verdicts come. */
const history = fc
  .array(
    fc.record({
      isRead: fc.boolean(),
      quantity,
      ifMatch: fc.option(fc.array(tag, { minLength: 1, maxLength: 2 }), { nil: undefined }),
      key: fc.option(fc.constantFrom('k', 'l'), { nil: undefined }),
      outcome: fc.oneof(
        fc.constant<Outcome>({ kind: 'unknown' }),
        fc.record({ kind: fc.constant('refused' as const), tag }),
        fc.record({ kind: fc.constant('ok' as const), quantity, tag }),
      ),
      length: fc.constantFrom(1, 15, 43),
    }),
    { maxLength: 5 },
  )
  .map((drawn) =>
    drawn.map(({ isRead, quantity, ifMatch, key, outcome, length }, index) => {
      const asked: Asked = isRead
        ? { kind: 'read' }
        : { kind: 'write', quantity, ...(ifMatch && { ifMatch }), ...(key && { key }) };
      // A tag goes with one count nearly always, and an update is answered with its own.
      const own = outcome.kind === 'ok' && !isRead ? { ...outcome, quantity } : outcome;
      const invoked = 10 * index;
      const answered = own.kind === 'unknown' ? Number.POSITIVE_INFINITY : invoked + length;
      return { asked, invoked, answered, outcome: own } satisfies Operation;
    }),
  );

it('a history is judged as without short cuts', () => {
  const counts = { linearizable: 0, violation: 0 };
  fc.assert(
    fc.property(history, (operations) => {
      const { kind } = check(operations, begun);
      const expected = isLinearizable(operations, begun) ? 'linearizable' : 'violation';
      expect(kind).toBe(expected);
      counts[expected] += 1;
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(counts.linearizable, counts.violation)).toBeGreaterThan(100);
});

/**
 * The same question as `check` answers, asked without any short cut: every order that the times allow, every
 * unknown update in it or not, with every tag that it can have given. For histories of a few operations.
 */
function isLinearizable(history: readonly Operation[], first: Entry): boolean {
  const tags = new Map<string, number | undefined>([[first.tag, first.quantity]]);
  for (const { asked, outcome } of history) {
    for (const tag of (asked.kind === 'write' && asked.ifMatch) || []) tags.set(tag, tags.get(tag));
    if (outcome.kind === 'unknown') continue;
    const { tag } = outcome;
    const known = tags.get(tag);
    const told = outcome.kind === 'ok' ? outcome.quantity : known;
    // A tag goes with one count.
    if (known !== undefined && told !== known) return false;
    tags.set(tag, told);
  }
  return explain(history, first, new Map());

  function explain(
    left: readonly Operation[],
    entry: Entry,
    answers: ReadonlyMap<string, string>,
  ): boolean {
    if (left.every(({ outcome }) => outcome.kind === 'unknown')) return true;
    const soonest = Math.min(...left.map(({ answered }) => answered));
    return left.some((operation) => {
      if (operation.invoked > soonest) return false;
      const others = left.filter((one) => one !== operation);
      return toAfters(operation, entry, answers).some(([after, memory]) =>
        explain(others, after, memory),
      );
    });
  }

  function toAfters(
    { asked, outcome }: Operation,
    entry: Entry,
    answers: ReadonlyMap<string, string>,
  ): [Entry, ReadonlyMap<string, string>][] {
    if (asked.kind === 'read') {
      const isSame =
        outcome.kind === 'ok' && outcome.tag === entry.tag && outcome.quantity === entry.quantity;
      return isSame ? [[entry, answers]] : [];
    }
    const { quantity, ifMatch } = asked;
    const request = toRequestName(asked);
    const answer = request === undefined ? undefined : answers.get(request);
    const isMet = !ifMatch || ifMatch.includes(entry.tag);
    if (outcome.kind === 'refused') {
      const isRight = answer === undefined && !isMet && outcome.tag === entry.tag;
      return isRight ? [[entry, answers]] : [];
    }
    if (outcome.kind === 'ok' && outcome.quantity !== quantity) return [];
    if (answer !== undefined) {
      return outcome.kind === 'unknown' || outcome.tag === answer ? [[entry, answers]] : [];
    }
    if (!isMet) return [];
    const given = outcome.kind === 'ok' ? [outcome.tag] : toPossibleTags(quantity);
    return given.flatMap((tag): [Entry, ReadonlyMap<string, string>][] => {
      const after = { quantity, tag };
      return [[after, request === undefined ? answers : new Map([...answers, [request, tag]])]];
    });
  }

  function toPossibleTags(quantity: number): string[] {
    const possible = [...tags].filter(([, known]) => known === undefined || known === quantity);
    return ['of nobody', ...possible.map(([tag]) => tag)];
  }
}

it('the moves in an order have one name, whatever way led to it', () => {
  const history = Array.from({ length: 40 }, (_, index) => {
    const count = 100 + index;
    return index % 8 === 7 ? lost(index, count) : write(index, 99, count, `T${index}`);
  });
  const { moves } = toMoves(history, first);
  // First one after the other, as nearly all are taken; then any of them, there and back.
  const steps = fc
    .tuple(fc.nat(moves.length), fc.array(fc.nat(moves.length - 1), { maxLength: 60 }))
    .map(([begun, others]) => [...Array(begun).keys(), ...others]);
  fc.assert(
    fc.property(steps, (indexes) => {
      const linearized = defineLinearized(moves);
      const present = new Set<number>();
      const setOf = new Map<string, string>();
      for (const index of indexes) {
        if (present.delete(index)) linearized.delete(index);
        else linearized.add(present.add(index) && index);
        const set = [...present].sort((one, other) => one - other).join();
        const name = linearized.name();
        expect(setOf.get(name) ?? set).toBe(set);
        setOf.set(name, set);
        const fresh = defineLinearized(moves);
        for (const one of present) fresh.add(one);
        expect(name).toBe(fresh.name());
      }
    }),
    { numRuns: 50 },
  );
});
