import { describe, expect, it } from 'vitest';
import { defineProgress, toCount, toTime } from '../../../infra/cli/progress.ts';

function openScreen(screen: { isTTY?: boolean; columns?: number }) {
  const written: string[] = [];
  const time = { now: 0 };
  return {
    screen: { ...screen, write: (text: string) => written.push(text) },
    clock: () => time.now,
    wait(milliseconds: number) {
      time.now += milliseconds;
    },
    /** What was written since the last look. */
    look: () => written.splice(0).join(''),
  };
}

describe('the progress', () => {
  it('is a bar on a terminal, redrawn in place, with rate and time left', () => {
    const { screen, clock, wait, look } = openScreen({ isTTY: true, columns: 100 });
    const progress = defineProgress('Loading stock.csv', 1_000_000, screen, clock);
    wait(1_000);
    progress.update(250_000);
    expect(look()).toBe(
      '\r\x1b[KLoading stock.csv [######..................] 25% of 1,000,000 rows, 250,000 rows/s, 0:03 left',
    );
    wait(50);
    progress.update(260_000);
    expect(look()).toBe('');
    progress.clear();
    expect(look()).toBe('\r\x1b[K');
  });

  it('never wraps a narrow terminal', () => {
    const { screen, clock, wait, look } = openScreen({ isTTY: true, columns: 40 });
    const progress = defineProgress('Loading stock.csv', 1_000_000, screen, clock);
    wait(1_000);
    progress.update(1);
    expect(look().replace('\r\x1b[K', '')).toHaveLength(39);
  });

  it('is a plain line now and then where there is no terminal', () => {
    const { screen, clock, wait, look } = openScreen({});
    const progress = defineProgress('Loading stock.csv', 100_000, screen, clock);
    wait(4_999);
    progress.update(10_000);
    expect(look()).toBe('');
    wait(1);
    progress.update(10_000);
    expect(look()).toBe('Loading stock.csv: 10% of 100,000 rows, 2,000 rows/s, 0:45 left\n');
    progress.clear();
    expect(look()).toBe('');
  });

  it('follows a change of pace', () => {
    const { screen, clock, wait, look } = openScreen({ isTTY: true, columns: 100 });
    const progress = defineProgress('Loading', 1_000_000, screen, clock);
    for (let second = 1; second <= 60; second += 1) {
      wait(1_000);
      progress.update(second * 1_000);
    }
    look();
    for (let second = 1; second <= 15; second += 1) {
      wait(1_000);
      progress.update(60_000 + second * 100);
    }
    expect(look()).toMatch(/ 100 rows\/s, 2:36:25 left$/);
  });

  it('counts one row, and several', () => {
    const rows = [0, 1, 1.4, 1_000].map((count) => toCount(count, 'row'));
    expect(rows).toEqual(['0 rows', '1 row', '1 row', '1,000 rows']);
    const { screen, clock, wait, look } = openScreen({});
    const progress = defineProgress('Loading stock.csv', 1, screen, clock);
    wait(5_000);
    progress.update(1);
    expect(look()).toBe('Loading stock.csv: 100% of 1 row, 0 rows/s, 0:00 left\n');
  });

  it('writes times as clocks do', () => {
    expect([0, 6.2, 61, 3_661].map(toTime)).toEqual(['0:00', '0:07', '1:01', '1:01:01']);
  });
});
