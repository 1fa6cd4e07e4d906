import type { CallOptions } from './options.ts';
import { parseBounds, type Settings } from './settings.ts';

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
