/** Ends what waits for an answer. */
export interface Deadline extends Disposable {
  /** Aborted when the time, or that of the whole run, is over. */
  readonly signal: AbortSignal;
  /** Starts the time anew. */
  refresh(): void;
}

/** @param run aborted when the time of the whole run is over */
export function startDeadline(milliseconds: number, run: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), milliseconds);
  return {
    signal: AbortSignal.any([run, controller.signal]),
    refresh: () => void timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
