import { describe, expect, it } from 'vitest';
import { check } from './checker.ts';
import type { Operation } from './history.ts';
import { first, lost, ofA, read, refused, toLongHistory, write } from './operations.ts';

describe('a history is linearizable', () => {
  it.each<[string, Operation[]]>([
    ['that is empty', []],
    ['of one after the other', [write(1, 2, 11, 'B'), read(3, 4, 11, 'B'), write(5, 6, 12, 'C')]],
    [
      'of updates at once, in the order that reads tell',
      [write(1, 10, 11, 'B'), write(2, 9, 12, 'C'), read(3, 4, 12, 'C'), read(5, 6, 11, 'B')],
    ],
    [
      'of a read at once with an update, of either state',
      [write(1, 10, 11, 'B'), read(2, 3, 10, 'A'), read(4, 5, 11, 'B')],
    ],
    [
      'of one 200 and one 412 for one tag',
      [write(1, 10, 11, 'B', ofA), refused(2, 9, 12, 'B', ofA), read(11, 12, 11, 'B')],
    ],
    [
      'of a 412 for a tag that was overwritten',
      [write(1, 2, 11, 'B'), refused(3, 4, 12, 'B', ofA)],
    ],
    ['of an unknown update that never happened', [lost(1, 11), read(2, 3, 10, 'A')]],
    [
      'of an unknown update that happened late',
      [
        lost(1, 11),
        read(2, 3, 10, 'A'),
        write(4, 5, 12, 'B'),
        read(6, 7, 11, 'C'),
        read(8, 9, 11, 'C'),
      ],
    ],
    [
      'of an unknown update that only a 412 saw',
      [lost(1, 11), refused(2, 3, 12, 'B', ofA), write(4, 5, 13, 'C')],
    ],
    [
      'of unknown updates on top of each other',
      [lost(1, 11, ofA), read(2, 3, 11, 'B'), lost(4, 12, { ifMatch: ['B'] }), read(5, 6, 12, 'C')],
    ],
    [
      'of an unknown update that another was built on by one of two tags',
      [lost(1, 11), write(2, 3, 12, 'C', { ifMatch: ['X', 'B'] }), read(4, 5, 12, 'C')],
    ],
    [
      'of a repetition that gets the first answer, another’s update later',
      [
        write(1, 2, 11, 'B', { key: 'k' }),
        write(3, 4, 12, 'C'),
        write(5, 6, 11, 'B', { key: 'k' }),
        read(7, 8, 12, 'C'),
      ],
    ],
    [
      'of a repetition that tells of the effect of the first, which was not answered',
      [
        lost(1, 11, { key: 'k', ...ofA }),
        write(2, 3, 12, 'C'),
        write(4, 5, 11, 'B', { key: 'k', ...ofA }),
        read(6, 7, 12, 'C'),
      ],
    ],
    [
      'of a repetition that is refused as the first was',
      [
        write(1, 2, 11, 'B'),
        refused(3, 4, 12, 'B', { key: 'k', ...ofA }),
        refused(5, 6, 12, 'B', { key: 'k', ...ofA }),
      ],
    ],
    [
      'of another request under a key that was used, with If-Match',
      [write(1, 2, 11, 'B', { key: 'k' }), write(3, 4, 11, 'C', { key: 'k', ifMatch: ['B'] })],
    ],
    [
      'of an unknown update that gives the entry a tag that it had',
      [write(1, 2, 11, 'B'), lost(3, 10), read(4, 5, 10, 'A')],
    ],
    [
      'of another request under a key that was used',
      [write(1, 2, 11, 'B', { key: 'k' }), write(3, 4, 12, 'C', { key: 'k' }), read(5, 6, 12, 'C')],
    ],
  ])('%s', (_, history) => {
    expect(check(history, first)).toMatchObject({ kind: 'linearizable' });
  });

  it('of hundreds of updates at once, some of which were lost, within few steps', () => {
    const history = toLongHistory();
    expect(check(history, first)).toMatchObject({ kind: 'linearizable' });
    expect(check(history, first).steps).toBeLessThan(20 * history.length);
  });
});

it('a history is undecided when the bound comes first', () => {
  expect(check(toLongHistory(), first, { mostSteps: 10 })).toMatchObject({
    kind: 'undecided',
    steps: 10,
  });
});
