import { type Bounds, parseBounds, type Settings } from './settings.ts';

export interface CallOptions extends Bounds {
  /** Ends the call, which then rejects with the signal's reason; what an update did is then not known. */
  readonly signal?: AbortSignal | undefined;
}

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
