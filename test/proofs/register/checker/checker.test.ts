import { describe, expect, it } from 'vitest';
import { check } from './checker.ts';
import { first, lost, type Operation, ofA, operation, read, refused, write } from './history.ts';

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
  expect(check(toLongHistory(), first, { maxSteps: 10 })).toMatchObject({
    kind: 'undecided',
    steps: 10,
  });
});

describe('a history is not linearizable', () => {
  it.each<[string, Operation[]]>([
    ['when an acknowledged update is lost', [write(1, 2, 11, 'B'), read(3, 4, 10, 'A')]],
    [
      'when an acknowledged update is lost and the next one builds on the state before',
      [write(1, 2, 11, 'B'), write(3, 4, 12, 'C', ofA)],
    ],
    [
      'when a read is stale',
      [write(1, 2, 11, 'B'), write(3, 4, 12, 'C'), read(5, 6, 11, 'B'), read(7, 8, 12, 'C')],
    ],
    [
      'when two updates got 200 for one tag',
      [write(1, 10, 11, 'B', ofA), write(2, 9, 12, 'C', ofA)],
    ],
    [
      'when a 412 took effect',
      [write(1, 2, 11, 'B'), refused(3, 4, 12, 'B', ofA), read(5, 6, 12, 'C')],
    ],
    ['when a 412 came although the tag was right', [refused(1, 2, 11, 'A', ofA)]],
    [
      'when a 412 tells a tag that the entry never had',
      [write(1, 2, 11, 'B'), refused(3, 4, 12, 'C', ofA)],
    ],
    ['when an update without If-Match got 412', [refused(1, 2, 11, 'A', {})]],
    [
      'when a repetition had a second effect',
      [
        write(1, 2, 11, 'B', { key: 'k' }),
        write(3, 4, 12, 'C'),
        write(5, 6, 11, 'B', { key: 'k' }),
        read(7, 8, 11, 'B'),
      ],
    ],
    [
      'when a repetition had a second effect, after others at once',
      [
        write(1, 2, 11, 'B', { key: 'k' }),
        write(3, 10, 12, 'C'),
        write(4, 11, 13, 'D'),
        write(12, 20, 11, 'B', { key: 'k' }),
        read(21, 22, 11, 'B'),
      ],
    ],
    [
      'when a 412 tells a tag before the update that made it',
      [lost(1, 11), refused(2, 3, 13, 'B', ofA), write(4, 5, 12, 'B')],
    ],
    [
      'when a repetition got another answer',
      [write(1, 2, 11, 'B', { key: 'k' }), write(3, 4, 11, 'C', { key: 'k' })],
    ],
    [
      'when a repetition was refused although the first had had its effect',
      [
        lost(1, 11, { key: 'k', ...ofA }),
        read(2, 3, 11, 'B'),
        refused(4, 5, 11, 'B', { key: 'k', ...ofA }),
      ],
    ],
    ['when a count was read that nobody wrote', [write(1, 2, 11, 'B'), read(3, 4, 12, 'C')]],
    [
      'when an answer has another count than was asked for',
      [operation(1, 2, { kind: 'write', quantity: 11 }, { kind: 'ok', quantity: 12, tag: 'B' })],
    ],
    ['when a tag goes with two counts', [write(1, 2, 11, 'B'), write(3, 4, 12, 'B')]],
    [
      'when two read one order and two others the other',
      [
        write(1, 20, 11, 'B'),
        write(2, 19, 12, 'C'),
        read(3, 4, 11, 'B'),
        read(5, 6, 12, 'C'),
        read(7, 8, 11, 'B'),
      ],
    ],
    ['when an update took effect before it was sent', [read(1, 2, 11, 'B'), write(3, 4, 11, 'B')]],
    [
      'when an unknown update happened twice around another',
      [
        lost(1, 11),
        read(2, 3, 11, 'B'),
        write(4, 5, 12, 'C'),
        read(6, 7, 12, 'C'),
        read(8, 9, 11, 'B'),
      ],
    ],
    [
      'when an unknown update with If-Match happened although its tag was gone',
      [write(1, 2, 11, 'B'), lost(3, 12, ofA), read(4, 5, 12, 'C')],
    ],
  ])('%s', (_, history) => {
    const verdict = check(history, first);
    expect(verdict).toMatchObject({ kind: 'violation', reason: expect.stringMatching(/\w/) });
  });

  it('when one acknowledged update of hundreds is lost', () => {
    const history = toLongHistory();
    const last = history.findLast(
      ({ asked, outcome }) => asked.kind === 'write' && outcome.kind === 'ok',
    );
    const stale = history.findLast(
      ({ asked, answered }) => asked.kind === 'read' && answered < (last?.invoked ?? 0),
    );
    const end = 20 * history.length;
    const again = { ...(stale as Operation), invoked: end, answered: end + 1 };
    expect(check([...history, again], first)).toMatchObject({ kind: 'violation' });
  });
});

/**
 * What eight clients see that overwrite an entry and read it, each operation at once with seven others. Some
 * updates are not answered, of which every other one happens.
 */
function toLongHistory(): Operation[] {
  const history: Operation[] = [];
  let entry = first;
  for (let index = 1; index <= 600; index += 1) {
    const [invoked, answered] = [10 * index, 10 * index + 75];
    if (index % 3 === 0) {
      history.push(read(invoked, answered, entry.quantity, entry.tag));
    } else if (index % 13 === 0) {
      history.push(lost(invoked, 1_000 + index));
      if (index % 2 === 0) entry = { quantity: 1_000 + index, tag: `L${index}` };
    } else {
      entry = { quantity: 1_000 + index, tag: `W${index}` };
      history.push(write(invoked, answered, entry.quantity, entry.tag));
    }
  }
  return history;
}
