import fc from 'fast-check';
import { expect, it } from 'vitest';
import { defineLinearized } from './linearized.ts';
import { toMoves } from './moves.ts';
import { first, lost, write } from './operations.ts';

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
