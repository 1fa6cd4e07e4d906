import type { Call } from './call.ts';
import { PetstoreError } from './petstoreError.ts';

/** Ends an attempt that takes too long, or whose caller wants no more of it. */
export interface Watchdog {
  /** Its reason is the caller's own, or a PetstoreError. */
  readonly signal: AbortSignal;
  /** Stops the clock, while it is the caller who takes time. */
  rest(): void;
  /** Starts the clock anew. */
  restart(): void;
  stop(): void;
}

/** @throws the reason of the caller's signal when that is aborted already */
export function startWatchdog({ signal, timeout, timeLeft }: Call): Watchdog {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const rest = () => clearTimeout(timer);
  function watch(milliseconds: number): void {
    rest();
    timer = setTimeout(() => controller.abort(toTimeoutError(milliseconds)), milliseconds);
  }

  watch(Math.min(timeout, Math.max(timeLeft(), 0)));
  return {
    signal: controller.signal,
    rest,
    restart: () => watch(timeout),
    stop() {
      rest();
      signal?.removeEventListener('abort', abort);
    },
  };
}

function toTimeoutError(milliseconds: number): PetstoreError {
  return new PetstoreError('timeout', `Nothing came for ${Math.ceil(milliseconds)} ms.`);
}
