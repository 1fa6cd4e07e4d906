import { expect, it } from 'vitest';
import {
  findContradiction,
  type Input,
  type Operation,
  type Outcome,
  type Write,
} from './checker.ts';
import { findLedgerProblems } from './seller.ts';

const ofA = { ifMatch: 'A' };
const keyed = { key: 'k' };
type Options = Omit<Write, 'kind' | 'quantity'>;

function operation(invoked: number, responded: number, input: Input, outcome: Outcome): Operation {
  return { input, invoked, responded, outcome };
}

const read = (invoked: number, responded: number, quantity: number, tag: string) =>
  operation(invoked, responded, { kind: 'read' }, { kind: 'ok', quantity, tag });
const first = read(-1, 0, 10, 'A');

/** An update with a 200. */
const write = (from: number, to: number, quantity: number, tag: string, options: Options = {}) =>
  operation(from, to, { kind: 'write', quantity, ...options }, { kind: 'ok', quantity, tag });

/** An update with a 412, and the entry's tag at that time. */
const refused = (from: number, to: number, quantity: number, tag: string, options: Options) =>
  operation(from, to, { kind: 'write', quantity, ...options }, { kind: 'refused', tag });

/** An update without a response. */
const lost = (invoked: number, quantity: number, options: Options = {}) =>
  operation(invoked, Infinity, { kind: 'write', quantity, ...options }, { kind: 'unknown' });

it.each<[string, Operation[]]>([
  ['of sequential requests', [write(1, 2, 11, 'B'), read(3, 4, 11, 'B'), write(5, 6, 12, 'C')]],
  [
    'of concurrent updates, in the order that reads show',
    [write(1, 10, 11, 'B'), write(2, 9, 12, 'C'), read(3, 4, 12, 'C'), read(5, 6, 11, 'B')],
  ],
  ['of an unknown update without effect', [lost(1, 11), read(2, 3, 10, 'A')]],
  [
    'of an unknown update that took effect late',
    [lost(1, 11), read(2, 3, 10, 'A'), write(4, 5, 12, 'B'), read(6, 7, 11, 'C')],
  ],
  [
    'of an unknown update that only a 412 shows',
    [lost(1, 11), lost(2, 14), refused(3, 4, 12, 'B', ofA), write(5, 6, 13, 'C', { ifMatch: 'B' })],
  ],
  [
    'of a retry that reports the effect of the first attempt, which had no response',
    [
      lost(1, 11, { ...keyed, ...ofA }),
      write(2, 3, 12, 'C'),
      write(4, 5, 11, 'B', { ...keyed, ...ofA }),
      read(6, 7, 12, 'C'),
    ],
  ],
])('a history is linearizable %s', (_, history) => {
  expect(findContradiction([first, ...history])).toBeUndefined();
});

it.each<[string, Operation[]]>([
  ['an acknowledged update is lost', [write(1, 2, 11, 'B'), read(3, 4, 10, 'A')]],
  ['a read is stale', [write(1, 2, 11, 'B'), write(3, 4, 12, 'C'), read(5, 6, 11, 'B')]],
  ['two updates got 200 for one tag', [write(1, 9, 11, 'B', ofA), write(2, 8, 12, 'C', ofA)]],
  ['a 412 took effect', [write(1, 2, 11, 'B'), refused(3, 4, 12, 'B', ofA), read(5, 6, 12, 'C')]],
  ['a 412 came although the tag matched', [refused(1, 2, 11, 'A', ofA)]],
  ['a 412 has a tag that the entry never had', [refused(1, 2, 11, 'C', ofA)]],
  [
    'a retry had a second effect',
    [
      write(1, 2, 11, 'B', keyed),
      write(3, 4, 12, 'C'),
      write(5, 6, 11, 'B', keyed),
      read(7, 8, 11, 'B'),
    ],
  ],
  ['a retry got another tag', [write(1, 2, 11, 'B', keyed), write(3, 4, 11, 'C', keyed)]],
  [
    'a retry was refused although the first attempt took effect',
    [
      lost(1, 11, { ...keyed, ...ofA }),
      read(2, 3, 11, 'B'),
      refused(4, 5, 11, 'B', { ...keyed, ...ofA }),
    ],
  ],
  ['an update took effect before it was sent', [read(1, 2, 11, 'B'), write(3, 4, 11, 'B')]],
  [
    'reads show two updates in both orders',
    [
      ...[write(1, 20, 11, 'B'), write(2, 19, 12, 'C')],
      ...[read(3, 4, 11, 'B'), read(5, 6, 12, 'C'), read(7, 8, 11, 'B')],
    ],
  ],
  [
    'an unknown update with If-Match took effect although its tag was gone',
    [write(1, 2, 11, 'B'), lost(3, 12, ofA), read(4, 5, 12, 'C')],
  ],
])('a history is a violation when %s', (_, history) => {
  expect(findContradiction([first, ...history])).toMatch(/\w/);
});

const sale = {
  key: 'k',
  deltas: [
    ['7', -1],
    ['9', -2],
  ],
} as const;
const counts = (seven: number, nine: number) =>
  new Map([
    ['7', seven],
    ['9', nine],
  ]);

it.each<[string, number[], number, number, RegExp | undefined]>([
  ['of a sale that took effect', [200, 200], 8, 7, undefined],
  ['of a sale that was refused', [409], 9, 9, undefined],
  ['if a retry took effect again', [200, 200], 7, 5, /7: 7 pieces are left, not 8/],
  ['if only one pet was sold', [200], 8, 9, /9: 9 pieces are left, not 7/],
  ['if a refused sale took effect', [409], 8, 7, /7: 8 pieces are left, not 9/],
  ['if a refused sale was repeated', [409, 200], 8, 7, /other than one outcome/],
])('pieces add up, or not: %s', (_, statuses, seven, nine, problem) => {
  const [found] = findLedgerProblems([{ ...sale, statuses }], counts(9, 9), counts(seven, nine));
  if (problem) expect(found).toMatch(problem);
  else expect(found).toBeUndefined();
});
