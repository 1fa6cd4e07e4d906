import { toLink } from './resources.ts';

export interface ClientOptions extends SharedOptions {
  /** The base address, which ends in `/v1`. */
  readonly baseUrl: string;
  /**
   * The key, or a function that gives it, which is called before each attempt. It is sent to the base
   * address alone, and no error or warning has it.
   */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Sends the requests in place of the global `fetch`: through a proxy, or in a test. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Is told of each deprecated operation that is called, once; by default a warning on the console. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
}

export interface CallOptions extends SharedOptions {
  /** Ends the call, which then rejects with the signal's reason; what an update did is then not known. */
  readonly signal?: AbortSignal | undefined;
}

/** What can be set for a client, and for a single call. */
export interface SharedOptions extends Bounds {
  /**
   * Headers of your own for each request, such as `X-Request-Id`; a call's replace those of the client by
   * the same name. The client refuses those that it sets itself, such as `Authorization`.
   */
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  /**
   * Is called with each response, as soon as its headers are there: also with errors and with each attempt
   * and page. A call's replaces the client's.
   */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
}

/** A response without its body. */
export interface ResponseInfo {
  readonly operationId: string;
  readonly status: number;
  readonly headers: Headers;
  /** Its `X-Request-Id`: name it when you report a problem. */
  readonly requestId: string | undefined;
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
  /** @throws {TypeError} when the caller's function gives no key */
  readonly readApiKey: () => string | Promise<string>;
  readonly fetch: ClientOptions['fetch'];
  readonly shared: Shared;
  readonly reportDeprecation: ReportDeprecation;
}

interface Shared extends Required<{ readonly [Name in keyof Bounds]: number }> {
  readonly headers: NonNullable<SharedOptions['headers']>;
  readonly onResponse: SharedOptions['onResponse'];
}

/** The longest that a timer can be set to. */
const MAX_TIMER = 2 ** 31 - 1;

const defaults: Shared = {
  headers: {},
  onResponse: undefined,
  timeout: 30_000,
  totalTimeout: 60_000,
  maxRetries: 3,
};
const sharedNames = Object.keys(defaults);

/** @throws {TypeError} when an option makes no sense; the message never has the key */
export function parseOptions(options: ClientOptions): Settings {
  refuseUnknown(options, ['baseUrl', 'apiKey', 'fetch', 'onDeprecation', ...sharedNames]);
  const { baseUrl, apiKey, fetch, onDeprecation } = options;
  refuseNoFunctions({ fetch, onDeprecation });
  const isFunction = typeof apiKey === 'function';
  if (!isFunction) parseApiKey(apiKey);
  return {
    baseUrl: parseBaseUrl(baseUrl),
    readApiKey: isFunction ? async () => parseApiKey(await apiKey()) : () => apiKey,
    fetch,
    shared: parseShared(options, defaults),
    reportDeprecation: defineDeprecationReport(onDeprecation),
  };
}

/** A call under way, which may be several requests. */
export interface Call extends Omit<Shared, 'totalTimeout'> {
  readonly settings: Settings;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds that are left of its total; 0 or less when its time is up. */
  timeLeft(): number;
}

/**
 * @param names of the options that this call alone has
 * @throws {TypeError} when an option makes no sense
 */
export function startCall(
  settings: Settings,
  options: CallOptions = {},
  names: readonly string[] = [],
): Call {
  refuseUnknown(options, [...names, 'signal', ...sharedNames]);
  const { totalTimeout, ...shared } = parseShared(options, settings.shared);
  const end = performance.now() + totalTimeout;
  return { settings, signal: options.signal, ...shared, timeLeft: () => end - performance.now() };
}

/**
 * A misspelt option must not be taken in silence, nor one that stands in the wrong argument.
 * @throws {TypeError} that names it and those that there are
 */
export function refuseUnknown(options: object, names: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`There is no option "${unknown}" here: the options are ${names.join(', ')}.`);
}

function refuseNoFunctions(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && typeof value !== 'function') {
      throw new TypeError(`${name} must be a function.`);
    }
  }
}

function parseApiKey(apiKey: string): string {
  // With a line break in it, `fetch` would quote the whole header in its error.
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new TypeError(
    'apiKey must be an API key, visible ASCII characters without spaces, or a function that gives one.',
  );
}

/**
 * @param otherwise what holds where the options say nothing
 * @throws {TypeError} when an option makes no sense
 */
function parseShared(options: SharedOptions, otherwise: Shared): Shared {
  const {
    headers = {},
    onResponse = otherwise.onResponse,
    timeout = otherwise.timeout,
    totalTimeout = otherwise.totalTimeout,
    maxRetries = otherwise.maxRetries,
  } = options;
  refuseNoFunctions({ onResponse });
  for (const [name, value] of Object.entries({ timeout, totalTimeout })) {
    if (!(value > 0 && value <= MAX_TIMER)) {
      throw new TypeError(`${name} must be milliseconds, more than 0 and at most ${MAX_TIMER}.`);
    }
  }
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw new TypeError('maxRetries must be an integer of at least 0.');
  }
  const allHeaders = addHeaders(new Headers(otherwise.headers), headers);
  return { headers: allHeaders, onResponse, timeout, totalTimeout, maxRetries };
}

const ownHeaders = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
];

/** @throws {TypeError} that names a header that cannot be sent, but not its value, which may be a secret */
function addHeaders(headers: Headers, more: Shared['headers']): Headers {
  // Not `instanceof`: a library's own Headers would look empty.
  for (const [name, value] of Symbol.iterator in more ? more : Object.entries(more)) {
    if (ownHeaders.includes(name.toLowerCase())) {
      throw new TypeError(`The client sets ${name} itself: leave it out of headers.`);
    }
    if (!isHeader(name, value)) {
      const quoted = JSON.stringify(name);
      throw new TypeError(`The header ${quoted} must have a name and a value that HTTP allows.`);
    }
    headers.set(name, value);
  }
  return headers;
}

function isHeader(name: string, value: unknown): boolean {
  try {
    return typeof value === 'string' && new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
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
