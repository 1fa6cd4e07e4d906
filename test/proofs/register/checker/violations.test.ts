import { describe, expect, it } from 'vitest';
import { check } from './checker.ts';
import type { Operation } from './history.ts';
import { first, lost, ofA, operation, read, refused, toLongHistory, write } from './operations.ts';

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
