import { toPlain } from './output.ts';

const REDRAW_MILLISECONDS = 100;
const LINE_MILLISECONDS = 5_000;

/** Progress: one line that is redrawn on a terminal, a line every few seconds elsewhere. */
export function defineProgress(label: string, total: number | undefined) {
  const screen = process.stderr;
  const { isTTY, columns } = screen;
  const started = performance.now();
  let drawnAt = isTTY ? Number.NEGATIVE_INFINITY : started;
  const clear = () => {
    if (isTTY) screen.write('\r\x1b[K');
  };
  return {
    update(done: number): void {
      const now = performance.now();
      if (now - drawnAt < (isTTY ? REDRAW_MILLISECONDS : LINE_MILLISECONDS)) return;
      drawnAt = now;
      const rate = (done / Math.max(now - started, 1)) * 1_000;
      const line = `${toPlain(label)}: ${toFigures(done, total, rate)}`;
      screen.write(isTTY ? `\r\x1b[K${line.slice(0, columns - 1)}` : `${line}\n`);
    },
    /** Clears the line, so that others can be written; `update` draws it again. */
    clear,
    [Symbol.dispose]: clear,
  };
}

function toFigures(done: number, total: number | undefined, rate: number): string {
  const pace = `${toCount(rate, 'row')}/s`;
  if (total === undefined) return `${toCount(done, 'row')}, ${pace}`;
  const percent = Math.floor((done / Math.max(total, 1)) * 100);
  const left = rate > 0 ? `, ${toTime((total - done) / rate)} left` : '';
  return `${percent}% of ${toCount(total, 'row')}, ${pace}${left}`;
}

/** Such as `1,000`, or `1 row` and `1,000 rows`. */
export function toCount(count: number, noun?: string): string {
  const whole = Math.round(count);
  const digits = whole.toLocaleString('en');
  return noun === undefined ? digits : `${digits} ${noun}${whole === 1 ? '' : 's'}`;
}

/** Such as `0:07` or `1:02:30`. */
export function toTime(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const last = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${last}` : `${minutes}:${last}`;
}
