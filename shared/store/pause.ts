/** Waits for so many milliseconds; without `node:timers/promises`, which no cold start needs to load. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
