import type { Deprecation } from './deprecation.ts';

export interface ClientOptions extends Bounds {
  /** The base address, which ends in `/v1`. */
  readonly baseUrl: string;
  /** It is sent to the base address alone, and no error or warning has it. */
  readonly apiKey: string;
  /** Is told of each deprecated operation that is called, once; by default a warning on the console. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
}

export interface CallOptions extends Bounds {
  /** Ends the call, which then rejects with the signal's reason; what an update did is then not known. */
  readonly signal?: AbortSignal | undefined;
}

/** How long and how often a call is tried. */
export interface Bounds {
  /**
   * Milliseconds that an attempt may take, the answer's body included, or that a stream may be silent.
   * 30,000 by default, since the service gives up on a request after 29 seconds.
   */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds after which a call begins no further attempt, and ends the one under way; 60,000 by
   * default. A stream that has begun may take longer.
   */
  readonly totalTimeout?: number | undefined;
  /** How often a request is sent again at most; 3 by default. */
  readonly maxRetries?: number | undefined;
}
