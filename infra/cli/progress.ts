import { tell } from './output.ts';

const LINE_MILLISECONDS = 10_000;

/** A function that says now and then how many rows are done. */
export function defineProgress(label: string): (done: number) => void {
  let toldAt = performance.now();
  return (done) => {
    if (performance.now() - toldAt < LINE_MILLISECONDS) return;
    toldAt = performance.now();
    tell(`${label}: ${toCount(done, 'row')} done.`);
  };
}

/** Such as `1,000`, or `1 row` and `1,000 rows`. */
export function toCount(count: number, noun?: string): string {
  const whole = Math.round(count);
  const digits = whole.toLocaleString('en');
  return noun === undefined ? digits : `${digits} ${noun}${whole === 1 ? '' : 's'}`;
}
