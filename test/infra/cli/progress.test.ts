import { expect, it, onTestFinished, vi } from 'vitest';
import { defineProgress, toCount, toTime } from '../../../infra/cli/progress.ts';

type Update = readonly [milliseconds: number, done: number];

const clear = '\r\x1b[K';
const line = 'Loading: 25% of 1,000,000 rows, 250,000 rows/s, 0:03 left';

/** The output at each update, some milliseconds after the one before, and at the end. */
it.each<[string, object, number | undefined, Update[], string[]]>([
  [
    'one line on a terminal, redrawn in place',
    { isTTY: true, columns: 100 },
    1_000_000,
    [
      [1_000, 250_000],
      [50, 260_000],
    ],
    [clear + line, '', clear],
  ],
  [
    'never wider than a terminal',
    { isTTY: true, columns: 40 },
    1_000_000,
    [[1_000, 250_000]],
    [clear + line.slice(0, 39), clear],
  ],
  [
    'a line now and then without a terminal',
    {},
    100_000,
    [
      [4_999, 10_000],
      [1, 10_000],
    ],
    ['', 'Loading: 10% of 100,000 rows, 2,000 rows/s, 0:45 left\n', ''],
  ],
  ['without a total', {}, undefined, [[5_000, 1]], ['Loading: 1 row, 0 rows/s\n', '']],
])('the progress is %s', (_, screen, total, updates, expected) => {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue({ ...screen, write } as never);
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.restoreAllMocks().useRealTimers());
  const progress = defineProgress('Loading', total);
  const look = () => written.splice(0).join('');
  const shown = updates.map(([milliseconds, done]) => {
    vi.advanceTimersByTime(milliseconds);
    progress.update(done);
    return look();
  });
  progress.clear();
  expect([...shown, look()]).toEqual(expected);
});

it('counts one row and several, and writes times like a clock', () => {
  const rows = [0, 1, 1.4, 1_000].map((count) => toCount(count, 'row'));
  expect(rows).toEqual(['0 rows', '1 row', '1 row', '1,000 rows']);
  expect([0, 6.2, 61, 3_661].map(toTime)).toEqual(['0:00', '0:07', '1:01', '1:01:01']);
});
