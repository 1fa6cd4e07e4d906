/**
 * The most that memory without garbage may have grown, in bytes, from the end of the warm-up to the middle and to
 * the end of a soak: what V8 compiles later, and the noise of a measurement. At 500 requests a second, ten minutes
 * show a leak of 8 bytes a request.
 */
export const MOST_GROWTH = 2 * 1024 * 1024;

/**
 * How far memory is from flat.
 * @param used bytes at the end of the warm-up, in the middle and at the end
 */
export function toGrowth([start, ...later]: readonly [number, ...number[]]): number {
  return Math.max(...later) - start;
}
