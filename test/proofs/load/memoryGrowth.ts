/**
 * The most that memory without garbage may rise from one measurement to a later one, in bytes, and be flat: what V8
 * still compiles, and noise. It shows what keeps 32 bytes of each request, from 65,536 requests on.
 */
export const MOST_GROWTH = 2 * 1024 * 1024;

/** @param used bytes at the end of the warm-up, in the middle and at the end */
export function toGrowth(used: readonly number[]): number {
  const rises = used.map((later, index) => later - Math.min(...used.slice(0, index)));
  return Math.max(...rises.slice(1));
}
