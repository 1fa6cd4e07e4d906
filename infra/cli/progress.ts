/** How often a bar is redrawn, and how often a line is written where there is no terminal. */
const REDRAW_MILLISECONDS = 100;
const LINE_MILLISECONDS = 5_000;
/** The rate is that of the time just past, so that the time left follows a change of pace. */
const RATE_WINDOW_MILLISECONDS = 10_000;
const BAR_COLUMNS = 24;

/** Where something long stands: a bar on a terminal, a line now and then elsewhere. */
export interface Progress {
  update(done: number): void;
  /** Takes the bar away, so that lines can be written; `update` brings it back. */
  clear(): void;
}

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export function defineProgress(
  label: string,
  total: number | undefined,
  screen: Screen = process.stderr,
  clock: () => number = () => performance.now(),
): Progress {
  const interval = screen.isTTY ? REDRAW_MILLISECONDS : LINE_MILLISECONDS;
  const samples: { at: number; done: number }[] = [{ at: clock(), done: 0 }];
  let drawnAt = screen.isTTY ? Number.NEGATIVE_INFINITY : clock();
  let isDrawn = false;

  function toRate(now: number, done: number): number {
    while (samples[1] && samples[1].at < now - RATE_WINDOW_MILLISECONDS) samples.shift();
    const oldest = samples[0] ?? { at: now, done };
    return now > oldest.at ? ((done - oldest.done) / (now - oldest.at)) * 1_000 : 0;
  }

  return {
    update(done) {
      const now = clock();
      if (now - drawnAt < interval) return;
      drawnAt = now;
      const rate = toRate(now, done);
      samples.push({ at: now, done });
      const figures = toFigures(done, total, rate);
      if (screen.isTTY) {
        const line = `${label} ${toBar(done, total)}${figures}`;
        screen.write(`\r\x1b[K${line.slice(0, (screen.columns || 80) - 1)}`);
        isDrawn = true;
      } else {
        screen.write(`${label}: ${figures}\n`);
      }
    },
    clear() {
      if (isDrawn) screen.write('\r\x1b[K');
      isDrawn = false;
      drawnAt = screen.isTTY ? Number.NEGATIVE_INFINITY : drawnAt;
    },
  };
}

function toFigures(done: number, total: number | undefined, rate: number): string {
  const pace = `${toCount(rate, 'row')}/s`;
  if (total === undefined) return `${toCount(done, 'row')}, ${pace}`;
  const percent = Math.floor((done / Math.max(total, 1)) * 100);
  const left = rate > 0 ? `, ${toTime((total - done) / rate)} left` : '';
  return `${percent}% of ${toCount(total, 'row')}, ${pace}${left}`;
}

function toBar(done: number, total: number | undefined): string {
  if (total === undefined) return '';
  const filled = Math.min(BAR_COLUMNS, Math.floor((done / Math.max(total, 1)) * BAR_COLUMNS));
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_COLUMNS - filled)}] `;
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
