import fc from 'fast-check';
import { expect, it } from 'vitest';
import { check } from './checker.ts';
import type { Asked, Entry, Operation, Outcome } from './history.ts';
import { isLinearizable } from './reference.ts';

const first: Entry = { quantity: 1, tag: 'A' };
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
      const { kind } = check(operations, first);
      const expected = isLinearizable(operations, first) ? 'linearizable' : 'violation';
      expect(kind).toBe(expected);
      counts[expected] += 1;
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(counts.linearizable, counts.violation)).toBeGreaterThan(100);
});
