import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../contract/headers.ts';
import { apiVersion } from '../contract/operation.ts';
import { toPrintable } from './petstoreError.ts';
import { findLink } from './resources.ts';

export interface ClientOptions extends SharedOptions {
  /** The base URL, which ends in `/v1`. */
  readonly baseUrl: string;
  /**
   * The key, or a function that returns it. The function is called once for each call or page, and again if it took
   * longer than `timeout`. Retries send the same key. It is sent only to the base URL. No error and no warning contains it.
   */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Replaces the global `fetch`: for a proxy, or in a test. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Called once for each deprecated operation that you use. By default, the client warns on the console. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
}

export interface CallOptions extends SharedOptions {
  /** Ends the call, which rejects with the signal's reason. A write may or may not have been applied. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a client or of a single call. */
export interface SharedOptions extends Bounds {
  /**
   * Your own headers for each request, such as `X-Request-Id`. A call's header replaces the client's header of the
   * same name. `Authorization`, `Content-Type` and the headers that other options set are refused.
   */
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  /**
   * Called with each response as soon as its headers arrive, including errors, retries and pages. A call's function
   * replaces the client's.
   */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
}

/** A response without its body. */
export interface ResponseInfo {
  readonly operationId: string;
  readonly status: number;
  readonly headers: Headers;
  /** Its `X-Request-Id`: include it when you report a problem. */
  readonly requestId: string | undefined;
}

/** Limits of a call. */
export interface Bounds {
  /**
   * Milliseconds that an attempt may take, response body included. The default is 30,000. Only a list may need
   * more.
   */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds after which a call starts no further attempt and ends the current one. The default is 60,000. In a
   * loop, each page is a call.
   */
  readonly totalTimeout?: number | undefined;
  /** Maximum retries of a request; 3 by default. Those after a 429 do not count; `totalTimeout` ends them. */
  readonly maxRetries?: number | undefined;
}

export interface Settings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** @throws {TypeError} if your function returns no valid key */
  readonly readApiKey: () => string | Promise<string>;
  readonly fetch: ClientOptions['fetch'];
  readonly shared: Shared;
  readonly reportDeprecation: ReportDeprecation;
}

interface Shared extends Required<{ readonly [Name in keyof Bounds]: number }> {
  readonly headers: NonNullable<SharedOptions['headers']>;
  readonly onResponse: SharedOptions['onResponse'];
}

/** The longest possible timer, in milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

/** The package's name and version; `npm run client` sets it. */
declare const USER_AGENT: string;
/** In a browser, which has a location, another origin would have to allow the header. */
const isNamed = typeof USER_AGENT !== 'undefined' && !('location' in globalThis);

const defaults: Shared = {
  headers: isNamed ? { 'User-Agent': USER_AGENT } : {},
  onResponse: undefined,
  timeout: 30_000,
  totalTimeout: 60_000,
  maxRetries: 3,
};
const sharedNames = Object.keys(defaults);

/** @throws {TypeError} if an option is invalid; the message never contains the key */
export function parseOptions(options: ClientOptions): Settings {
  refuseUnknown(options, ['baseUrl', 'apiKey', 'fetch', 'onDeprecation', ...sharedNames]);
  const { baseUrl, apiKey, fetch, onDeprecation } = options;
  refuseOtherThanFunctions({ fetch, onDeprecation });
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

/** A running call, which may send several requests. */
export interface Call extends Omit<Shared, 'totalTimeout'> {
  readonly settings: Settings;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds left of `totalTimeout`; 0 or less after it. */
  timeLeft(): number;
}

/**
 * @param names of the options that only this call has
 * @throws {TypeError} if an option is invalid
 */
export function startCall(
  settings: Settings,
  options: CallOptions = {},
  names: readonly string[] = [],
): Call {
  refuseUnknown(options, [...names, 'signal', ...sharedNames]);
  refuseInvalidHeaders(options);
  const { signal } = options;
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    throw new TypeError('signal must be an AbortSignal.');
  }
  const { totalTimeout, ...shared } = parseShared(options, settings.shared);
  const end = performance.now() + totalTimeout;
  return { settings, signal, ...shared, timeLeft: () => end - performance.now() };
}

/**
 * A misspelt option, or one in the wrong argument, must not be ignored.
 * @throws {TypeError} that names it and lists the valid options
 */
export function refuseUnknown(options: object, names: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`There is no option "${unknown}" here: the options are ${names.join(', ')}.`);
}

const entityTag = { pattern: /^[!-~][ -~]*$/, rule: 'an ETag with its quotes, such as "AAAACQBh"' };

/** What the options may be that become headers. */
const headerRules: Readonly<Record<string, typeof entityTag>> = {
  ifMatch: entityTag,
  ifNoneMatch: entityTag,
  idempotencyKey: {
    pattern: new RegExp(`^[!-~]{1,${MAX_IDEMPOTENCY_KEY_LENGTH}}$`),
    rule: `a string of 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters`,
  },
};

/**
 * Otherwise `null` would become the text "null", the same key for all orders.
 * @throws {TypeError} that names the option
 */
export function refuseInvalidHeaders(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const { pattern, rule } = headerRules[name] ?? {};
    const isValid = value === undefined || (typeof value === 'string' && pattern?.test(value));
    if (pattern && !isValid) throw new TypeError(`${name} must be ${rule}.`);
  }
}

function refuseOtherThanFunctions(options: Readonly<Record<string, unknown>>): void {
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
    'apiKey must be a string of visible ASCII characters, or a function that returns one.',
  );
}

/**
 * @param otherwise the defaults
 * @throws {TypeError} if an option is invalid
 */
function parseShared(options: SharedOptions, otherwise: Shared): Shared {
  const {
    headers = {},
    onResponse = otherwise.onResponse,
    timeout = otherwise.timeout,
    totalTimeout = otherwise.totalTimeout,
    maxRetries = otherwise.maxRetries,
  } = options;
  refuseOtherThanFunctions({ onResponse });
  for (const [name, value] of Object.entries({ timeout, totalTimeout })) {
    if (typeof value !== 'number' || !(value > 0 && value <= MAX_TIMER)) {
      throw new TypeError(`${name} must be milliseconds, more than 0 and at most ${MAX_TIMER}.`);
    }
  }
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw new TypeError('maxRetries must be an integer of at least 0.');
  }
  if (typeof headers !== 'object' || headers === null) {
    throw new TypeError('headers must be Headers or an object.');
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

/** @throws {TypeError} with the name of an invalid header, but not its value, which may be a secret */
function addHeaders(headers: Headers, more: Shared['headers']): Headers {
  // Not `instanceof`, since a library may have its own Headers, which would then look empty.
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

/** Without credentials, query and fragment. */
const baseAddress = new RegExp(`^https?://[^/?#@]+(/[^?#]*)?/${apiVersion}$`);

function parseBaseUrl(text: string): string {
  const address = toHref(text)?.replace(/\/+$/, '') ?? '';
  // Under another address, other servers respond, or the gateway knows no path.
  if (baseAddress.test(address)) return address;
  throw new TypeError(
    `baseUrl must be an http or https URL that ends in /${apiVersion}, such as "https://api.example.com/${apiVersion}".`,
  );
}

function toHref(text: string): string | undefined {
  try {
    return new URL(text).href;
  } catch {
    return undefined;
  }
}

/** The deprecation headers of a response. */
export interface Deprecation {
  readonly operationId: string;
  /** When it was deprecated (`Deprecation`, RFC 9745). */
  readonly since: Date | undefined;
  /** After this date it may be gone (`Sunset`, RFC 8594). */
  readonly sunset: Date | undefined;
  /** The page with the replacement (`Link`, relation `deprecation`). */
  readonly documentation: string | undefined;
}

type ReportDeprecation = (operationId: string, headers: Headers) => void;

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
      documentation: findLink(headers, 'deprecation'),
    });
  };
}

function toDate(milliseconds: number): Date | undefined {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function warn({ operationId, sunset, documentation }: Deprecation): void {
  const end = sunset ? `, and may be gone after ${sunset.toISOString()}` : '';
  const link = documentation ? `: see ${toPrintable(documentation)}` : '.';
  console.warn(`The pet store's operation ${operationId} is deprecated${end}${link}`);
}
