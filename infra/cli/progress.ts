import { Presets, SingleBar } from 'cli-progress';
import { log, toCount, toPlain } from './output.ts';

const LINE_MILLISECONDS = 10_000;

/**
 * Shows on standard error how far some work is, with its rate and the time left: as a bar on a terminal, else as a line
 * every ten seconds. Disposing of it removes the bar.
 */
export function defineProgress(label: string) {
  const started = performance.now();
  let loggedAt = started;
  const bar = process.stderr.isTTY ? startBar(label) : undefined;
  return {
    /** @param share how much of all is done, from 0 to 1 */
    report(rows: number, share: number): void {
      const now = performance.now();
      if (!bar && now - loggedAt < LINE_MILLISECONDS) return;
      const seconds = (now - started) / 1_000;
      // An estimated total can be too low.
      const done = Math.min(share, 1);
      const left = done > 0 ? toDuration((seconds / done) * (1 - done)) : 'unknown time';
      const rate = `${toCount(rows / seconds)} rows/s, ${left} left, ${toCount(rows, 'row')}`;
      loggedAt = now;
      if (bar) bar.update(done * 100, { rate });
      else log(`${label}: ${Math.floor(done * 100)} %, ${rate}.`);
    },
    [Symbol.dispose]: () => bar?.stop(),
  };
}

function startBar(label: string): SingleBar {
  const options = {
    format: `${toPlain(label)} {bar} {percentage} %, {rate}`,
    stream: process.stderr,
    // A terminal of 60 columns has room for the time left too.
    barsize: 10,
    clearOnComplete: true,
    // The command has its own end after Ctrl-C.
    gracefulExit: false,
  };
  const bar = new SingleBar(options, Presets.legacy);
  bar.start(100, 0, { rate: '' });
  return bar;
}

function toDuration(seconds: number): string {
  return seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
