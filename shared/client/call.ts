import { PetstoreError } from './petstoreError.ts';
import { type CallOptions, parseBounds, type Settings } from './settings.ts';

/** A call under way, which may be several requests. */
export interface Call {
  readonly settings: Settings;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  readonly maxRetries: number;
  /** Milliseconds that are left of its total; 0 or less when its time is up. */
  timeLeft(): number;
}

/** @throws {TypeError} when an option makes no sense */
export function startCall(settings: Settings, options: CallOptions = {}): Call {
  const { totalTimeout, ...bounds } = parseBounds(options, settings.bounds);
  const end = performance.now() + totalTimeout;
  return { settings, signal: options.signal, ...bounds, timeLeft: () => end - performance.now() };
}

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
    timer = setTimeout(() => controller.abort(timeoutError(milliseconds)), milliseconds);
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

function timeoutError(milliseconds: number): PetstoreError {
  return new PetstoreError('timeout', `Nothing came for ${Math.ceil(milliseconds)} ms.`);
}
