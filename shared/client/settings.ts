import { toLink } from './resources.ts';

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

/** A client's options, checked. */
export interface Settings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly bounds: Required<{ readonly [Name in keyof Bounds]: number }>;
  readonly reportDeprecation: ReportDeprecation;
}

/** The longest that a timer can be set to. */
const MAX_TIMER = 2 ** 31 - 1;

const defaults = { timeout: 30_000, totalTimeout: 60_000, maxRetries: 3 };

/** @throws {TypeError} when an option makes no sense; the message never has the key */
export function parseOptions(options: ClientOptions): Settings {
  const { baseUrl, apiKey, onDeprecation } = options;
  // With a line break in it, `fetch` would quote the whole header in its error.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key: visible ASCII characters without spaces.');
  }
  return {
    baseUrl: parseBaseUrl(baseUrl),
    apiKey,
    bounds: parseBounds(options, defaults),
    reportDeprecation: defineDeprecationReport(onDeprecation),
  };
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

/**
 * @param otherwise what holds where the bounds say nothing
 * @throws {TypeError} when a bound makes no sense
 */
function parseBounds(bounds: Bounds, otherwise: Settings['bounds']): Settings['bounds'] {
  const {
    timeout = otherwise.timeout,
    totalTimeout = otherwise.totalTimeout,
    maxRetries = otherwise.maxRetries,
  } = bounds;
  for (const [name, value] of Object.entries({ timeout, totalTimeout })) {
    if (!(value > 0 && value <= MAX_TIMER)) {
      throw new TypeError(`${name} must be milliseconds, more than 0 and at most ${MAX_TIMER}.`);
    }
  }
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw new TypeError('maxRetries must be an integer of at least 0.');
  }
  return { timeout, totalTimeout, maxRetries };
}

function parseBaseUrl(text: string): string {
  const url = toUrl(text);
  const hasMore = url && (url.username || url.password || url.search || url.hash);
  if (!url || hasMore || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      'baseUrl must be an http or https URL, such as "https://api.example.com/v1".',
    );
  }
  return url.href.replace(/\/+$/, '');
}

function toUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** What an answer says of an operation that is deprecated. */
export interface Deprecation {
  readonly operationId: string;
  /** Since when it is (`Deprecation`, RFC 9745). */
  readonly since: Date | undefined;
  /** After when it may be gone (`Sunset`, RFC 8594). */
  readonly sunset: Date | undefined;
  /** The page that says what to call instead (`Link`, relation `deprecation`). */
  readonly documentation: string | undefined;
}

type ReportDeprecation = (operationId: string, headers: Headers) => void;

/** Reports each deprecated operation once. */
function defineDeprecationReport(
  onDeprecation: (deprecation: Deprecation) => void = warn,
): ReportDeprecation {
  const reported = new Set<string>();
  return function reportDeprecation(operationId, headers) {
    const since = headers.get('Deprecation');
    if (since === null || reported.has(operationId)) return;
    reported.add(operationId);
    onDeprecation({
      operationId,
      since: toDate(Number(since.replace('@', '')) * 1_000),
      sunset: toDate(Date.parse(headers.get('Sunset') ?? '')),
      documentation: toLink(headers, 'deprecation'),
    });
  };
}

function toDate(milliseconds: number): Date | undefined {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function warn({ operationId, sunset, documentation }: Deprecation): void {
  const end = sunset ? `, and may be gone after ${sunset.toISOString()}` : '';
  const link = documentation ? `: see ${documentation}` : '.';
  console.warn(`The pet store's operation ${operationId} is deprecated${end}${link}`);
}
