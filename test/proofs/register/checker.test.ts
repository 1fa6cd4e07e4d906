import { expect, it } from 'vitest';
import { type Asked, check, type Operation, type Outcome, type Write } from './checker.ts';

const first = { quantity: 10, tag: 'A' };
const ofA = { ifMatch: ['A'] };
const keyed = { key: 'k' };
type Options = Omit<Write, 'kind' | 'quantity'>;

function operation(invoked: number, answered: number, asked: Asked, outcome: Outcome): Operation {
  return { asked, invoked, answered, outcome };
}

const read = (invoked: number, answered: number, quantity: number, tag: string) =>
  operation(invoked, answered, { kind: 'read' }, { kind: 'ok', quantity, tag });

/** An update that was answered 200. */
const write = (from: number, to: number, quantity: number, tag: string, options: Options = {}) =>
  operation(from, to, { kind: 'write', quantity, ...options }, { kind: 'ok', quantity, tag });

/** An update that was answered 412, with the tag that the entry then had. */
const refused = (from: number, to: number, quantity: number, tag: string, options: Options) =>
  operation(from, to, { kind: 'write', quantity, ...options }, { kind: 'refused', tag });

/** An update that was not answered. */
const lost = (invoked: number, quantity: number, options: Options = {}) =>
  operation(invoked, Infinity, { kind: 'write', quantity, ...options }, { kind: 'unknown' });

it.each<[string, Operation[]]>([
  ['of one after the other', [write(1, 2, 11, 'B'), read(3, 4, 11, 'B'), write(5, 6, 12, 'C')]],
  [
    'of updates at once, in the order that reads tell',
    [write(1, 10, 11, 'B'), write(2, 9, 12, 'C'), read(3, 4, 12, 'C'), read(5, 6, 11, 'B')],
  ],
  ['of an unknown update that never happened', [lost(1, 11), read(2, 3, 10, 'A')]],
  [
    'of an unknown update that happened late',
    [lost(1, 11), read(2, 3, 10, 'A'), write(4, 5, 12, 'B'), read(6, 7, 11, 'C')],
  ],
  [
    'of an unknown update that only a 412 saw',
    [
      lost(1, 11),
      lost(2, 14),
      refused(3, 4, 12, 'B', ofA),
      write(5, 6, 13, 'C', { ifMatch: ['B'] }),
    ],
  ],
  [
    'of a repetition that tells of the effect of the first, which was not answered',
    [
      lost(1, 11, { ...keyed, ...ofA }),
      write(2, 3, 12, 'C'),
      write(4, 5, 11, 'B', { ...keyed, ...ofA }),
      read(6, 7, 12, 'C'),
    ],
  ],
])('a history is linearizable %s', (_, history) => {
  expect(check(history, first)).toMatchObject({ kind: 'linearizable' });
});

it.each<[string, Operation[]]>([
  ['an acknowledged update is lost', [write(1, 2, 11, 'B'), read(3, 4, 10, 'A')]],
  ['a read is stale', [write(1, 2, 11, 'B'), write(3, 4, 12, 'C'), read(5, 6, 11, 'B')]],
  ['two updates got 200 for one tag', [write(1, 9, 11, 'B', ofA), write(2, 8, 12, 'C', ofA)]],
  ['a 412 took effect', [write(1, 2, 11, 'B'), refused(3, 4, 12, 'B', ofA), read(5, 6, 12, 'C')]],
  ['a 412 came although the tag was right', [refused(1, 2, 11, 'A', ofA)]],
  ['a 412 tells a tag that the entry never had', [refused(1, 2, 11, 'C', ofA)]],
  [
    'a repetition had a second effect',
    [
      write(1, 2, 11, 'B', keyed),
      write(3, 4, 12, 'C'),
      write(5, 6, 11, 'B', keyed),
      read(7, 8, 11, 'B'),
    ],
  ],
  ['a repetition got another answer', [write(1, 2, 11, 'B', keyed), write(3, 4, 11, 'C', keyed)]],
  [
    'a repetition was refused although the first had had its effect',
    [
      lost(1, 11, { ...keyed, ...ofA }),
      read(2, 3, 11, 'B'),
      refused(4, 5, 11, 'B', { ...keyed, ...ofA }),
    ],
  ],
  ['an update took effect before it was sent', [read(1, 2, 11, 'B'), write(3, 4, 11, 'B')]],
  [
    'two read one order and two others the other',
    [
      ...[write(1, 20, 11, 'B'), write(2, 19, 12, 'C')],
      ...[read(3, 4, 11, 'B'), read(5, 6, 12, 'C'), read(7, 8, 11, 'B')],
    ],
  ],
  [
    'an unknown update with If-Match happened although its tag was gone',
    [write(1, 2, 11, 'B'), lost(3, 12, ofA), read(4, 5, 12, 'C')],
  ],
])('a history is a violation when %s', (_, history) => {
  const reason = expect.stringMatching(/\w/);
  expect(check(history, first)).toMatchObject({ kind: 'violation', reason });
});
