import { expect, it } from 'vitest';
import { defineProgress, toCount, toTime } from '../../../infra/cli/progress.ts';

type Update = readonly [milliseconds: number, done: number];

/** What is written at each update, of a number of milliseconds after the one before, and at the end. */
function show(screen: { isTTY?: boolean; columns?: number }, total: number, updates: Update[]) {
  const written: string[] = [];
  let now = 0;
  const write = (text: string) => written.push(text);
  const progress = defineProgress('Loading', total, { ...screen, write }, () => now);
  const look = () => written.splice(0).join('');
  const shown = updates.map(([milliseconds, done]) => {
    now += milliseconds;
    progress.update(done);
    return look();
  });
  progress.clear();
  return [...shown, look()];
}

const clear = '\r\x1b[K';
const bar = 'Loading [######..................] 25% of 1,000,000 rows, 250,000 rows/s, 0:03 left';
const terminal = { isTTY: true, columns: 100 };

it.each<[string, { isTTY?: boolean; columns?: number }, number, Update[], string[]]>([
  [
    'a bar on a terminal, redrawn in place, with rate and time left',
    terminal,
    1_000_000,
    [
      [1_000, 250_000],
      [50, 260_000],
    ],
    [clear + bar, '', clear],
  ],
  [
    'never wider than a narrow terminal',
    { isTTY: true, columns: 40 },
    1_000_000,
    [[1_000, 250_000]],
    [clear + bar.slice(0, 39), clear],
  ],
  [
    'a plain line now and then where there is no terminal',
    {},
    100_000,
    [
      [4_999, 10_000],
      [1, 10_000],
    ],
    ['', 'Loading: 10% of 100,000 rows, 2,000 rows/s, 0:45 left\n', ''],
  ],
  ['of one row', {}, 1, [[5_000, 1]], ['Loading: 100% of 1 row, 0 rows/s, 0:00 left\n', '']],
])('the progress is %s', (_, screen, total, updates, expected) => {
  expect(show(screen, total, updates)).toEqual(expected);
});

it('the progress follows a change of pace', () => {
  const updates = Array.from({ length: 75 }, (_, second): Update => {
    return [1_000, second < 60 ? (second + 1) * 1_000 : 60_000 + (second - 59) * 100];
  });
  expect(show(terminal, 1_000_000, updates).at(-2)).toMatch(/ 100 rows\/s, 2:36:25 left$/);
});

it('counts one row and several, and writes times as clocks do', () => {
  const rows = [0, 1, 1.4, 1_000].map((count) => toCount(count, 'row'));
  expect(rows).toEqual(['0 rows', '1 row', '1 row', '1,000 rows']);
  expect([0, 6.2, 61, 3_661].map(toTime)).toEqual(['0:00', '0:07', '1:01', '1:01:01']);
});
