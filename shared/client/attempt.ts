import { parseJson } from '../contract/json.ts';
import type { OperationId, operations } from '../contract/operations.ts';
import {
  PetstoreError,
  type PetstoreErrorCode,
  type PetstoreErrorDetails,
  parseErrorResponse,
  toPrintable,
} from './petstoreError.ts';
import type { Call } from './settings.ts';

type Contract = typeof operations;

/** A path with text in place of each parameter. */
type Filled<Path extends string> = Path extends `${infer Start}{${string}}${infer Rest}`
  ? `${Start}${string}${Filled<Rest>}`
  : Path;

type QueryNames<Of> = Of extends { readonly query: infer Query } ? keyof Query : never;

/** Compiles only if it matches the contract. */
export interface PetstoreRequest<Id extends OperationId = OperationId> {
  readonly operationId: Id;
  readonly method: Contract[Id]['method'];
  /** Relative to the base address. */
  readonly path: Filled<Contract[Id]['path']>;
  readonly query?: {
    readonly [Name in QueryNames<Contract[Id]>]?: string | number | undefined;
  };
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** JSON. */
  readonly body?: string;
  readonly isList?: boolean;
}

/** A request with all its attempts. */
export interface Exchange {
  readonly call: Call;
  readonly request: PetstoreRequest;
  attempts: number;
  /** The same for all attempts: under another key, a retry could be another request to the service. */
  apiKey: string | undefined;
  /** Whether an attempt changed something, or may have. */
  mayHaveApplied: boolean;
}

/** A response with its headers. The caller must read the body or stop the watchdog. */
export interface OpenResponse {
  readonly exchange: Exchange;
  readonly response: Response;
  readonly watchdog: Watchdog;
}

export interface WholeResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; undefined without a body. */
  readonly document: unknown;
}

/**
 * Sends a request once.
 * @throws {PetstoreError} if no response comes, or an error response
 * @throws the reason of the caller's signal if it is aborted
 */
export async function openResponse(exchange: Exchange): Promise<OpenResponse> {
  const { call, request, mayHaveApplied } = exchange;
  const { operationId } = request;
  const watchdog = startWatchdog(exchange);
  let response: Response | undefined;
  exchange.attempts += 1;
  try {
    response = await untilAborted(fetchResponse(exchange, watchdog.signal), watchdog.signal);
    const opened = { exchange, response, watchdog };
    const { headers, status } = response;
    call.settings.reportDeprecation(operationId, headers);
    call.onResponse?.({ operationId, status, headers, requestId: readRequestId(headers) });
    const isUnchanged = status === 304 && request.headers?.['If-None-Match'] !== undefined;
    // The service has no other success.
    if (status === 200 || isUnchanged) return opened;
    const reading = readText(opened);
    // Only a 5xx says enough without its body.
    const text = await (status < 500 ? reading : reading.catch(() => ''));
    if (status < 500 && isOpen(text, '{')) throw breakError(opened);
    const { code, message, isRefusal, retryAfter } = parseErrorResponse(response, text);
    // After these, no earlier attempt took effect: this one would have got its response.
    const isMissing = code === 'not_found' && request.method === 'POST';
    const isOutcome = isMissing || status === 409 || code === 'precondition_failed';
    if (isRefusal) exchange.mayHaveApplied = mayHaveApplied && !isOutcome;
    throw responseError(opened, code, message, { retryAfter });
  } catch (error) {
    watchdog.stop();
    // A function of the caller may have thrown: the connection must end. A body that was read rejects this.
    response?.body?.cancel?.().catch(() => {});
    throw watchdog.signal.aborted ? watchdog.signal.reason : error;
  }
}

/**
 * Reads a response to its end.
 * @param toValue converts the response; any error from it means that the response is invalid
 */
export async function readValue<Value>(
  opened: OpenResponse,
  toValue: (whole: WholeResponse) => Value,
): Promise<Value> {
  const { status, headers } = opened.response;
  const text = await readText(opened);
  try {
    return toValue({ status, headers, document: text === '' ? undefined : parseJson(text) });
  } catch (cause) {
    const { isList } = opened.exchange.request;
    const isCutOff = text.trim() === '' || isOpen(text, isList ? '[' : '{');
    throw isCutOff ? breakError(opened) : invalidResponseError(opened, cause);
  }
}

async function readText(opened: OpenResponse): Promise<string> {
  let text = '';
  for await (const piece of readPieces(opened, false)) text += piece;
  return text;
}

/**
 * The body in chunks, as they arrive. Stopping early ends the connection.
 * @param isStream whether each chunk may take the whole timeout
 */
export async function* readPieces(
  opened: OpenResponse,
  isStream = true,
): AsyncGenerator<string, void, undefined> {
  const { response, watchdog } = opened;
  // A response of the caller's own `fetch` may have only a text.
  const reader = response.body?.getReader?.();
  const decoder = new TextDecoder();
  try {
    if (!reader) return yield await untilAborted(response.text(), watchdog.signal);
    for (;;) {
      if (isStream) watchdog.restart();
      const piece = await untilAborted(reader.read(), watchdog.signal);
      if (isStream) watchdog.rest();
      if (piece.done) return;
      yield decoder.decode(piece.value, { stream: true });
    }
  } catch (cause) {
    throw breakError(opened, cause);
  } finally {
    watchdog.stop();
    // Errors in the rest no longer matter.
    reader?.cancel().catch(() => {});
  }
}

/** The error for a truncated body. */
export function breakError(opened: OpenResponse, cause?: unknown): unknown {
  if (opened.watchdog.signal.aborted) return opened.watchdog.signal.reason;
  const isList = opened.exchange.request.isList && opened.response.status === 200;
  const code = isList ? 'incomplete_list' : 'connection_failed';
  return responseError(opened, code, 'The response was truncated.', { cause });
}

/** @param cause if it is a PetstoreError, its message says more */
export function invalidResponseError(opened: OpenResponse, cause: unknown): PetstoreError {
  if (cause instanceof PetstoreError) return responseError(opened, cause.code, cause.message, {});
  const message = `The response is not a valid ${opened.exchange.request.operationId} response.`;
  // An error of `JSON.parse` quotes the response, also in its stack.
  const printable = new Error(toPrintable(String(Object(cause).message)));
  return responseError(opened, 'invalid_response', message, { cause: printable });
}

/** A string, which may be truncated too, or a bracket. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{}]/g;

/** Whether a text begins with this bracket, as JSON, and ends before the bracket is closed. */
function isOpen(text: string, opening: '[' | '{'): boolean {
  if (!text.trimStart().startsWith(opening)) return false;
  let depth = 0;
  for (const [found] of text.matchAll(token)) {
    if ('[{'.includes(found)) depth += 1;
    else if (']}'.includes(found)) depth -= 1;
  }
  return depth > 0;
}

function responseError(
  { exchange, response: { headers, status } }: OpenResponse,
  code: PetstoreErrorCode,
  message: string,
  details: PetstoreErrorDetails,
): PetstoreError {
  return exchangeError(exchange, code, message, {
    // In a browser, a redirect that is not followed has status 0.
    status: status || undefined,
    requestId: readRequestId(headers),
    ...details,
  });
}

function readRequestId(headers: Headers): string | undefined {
  const id = headers.get('X-Request-Id');
  return id === null ? undefined : toPrintable(id);
}

/** For an update, the message says what it did. */
function exchangeError(
  { request: { operationId, method }, attempts, mayHaveApplied }: Exchange,
  code: PetstoreErrorCode,
  message: string,
  details: PetstoreErrorDetails,
): PetstoreError {
  const isReused = code === 'idempotency_key_reused';
  const own = mayHaveApplied ? 'unknown' : 'none';
  // Another adjustment with the key may have been refused.
  const effect = isReused ? (method === 'POST' ? 'unknown' : 'applied') : own;
  const outcome = method === 'GET' || isReused ? '' : outcomes[own];
  return new PetstoreError(code, message + outcome, { effect, operationId, attempts, ...details });
}

const outcomes = {
  none: ' The update was not applied.',
  unknown: ' The update may or may not have been applied.',
};

/** The caller's `fetch` or key function may ignore the signal. */
function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

async function fetchResponse(exchange: Exchange, signal: AbortSignal): Promise<Response> {
  const { mayHaveApplied, call, request } = exchange;
  const { baseUrl, readApiKey, fetch = globalThis.fetch } = call.settings;
  const { method, path, query = {}, headers = {}, body } = request;
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const allHeaders = new Headers(call.headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) allHeaders.set(name, value);
  }
  const apiKey = exchange.apiKey ?? (await readApiKey());
  // The key function may have taken too long.
  signal.throwIfAborted();
  exchange.apiKey = apiKey;
  if (body !== undefined) allHeaders.set('Content-Type', 'application/json');
  allHeaders.set('Authorization', `Bearer ${apiKey}`);
  exchange.mayHaveApplied = method !== 'GET';
  try {
    return await fetch(url.href, {
      method,
      headers: allHeaders,
      body: body ?? null,
      signal,
      // Stock must be current, and the key must go only to the base address.
      cache: 'no-store',
      redirect: 'manual',
    });
  } catch (cause) {
    const isSent = !isUnsent(cause);
    if (!isSent) exchange.mayHaveApplied = mayHaveApplied;
    const message = isSent ? 'No response came.' : 'The service could not be reached.';
    throw exchangeError(exchange, 'connection_failed', message, { cause });
  }
}

/** Whether Node.js says that there was no connection. A browser does not say. */
function isUnsent(error: unknown): boolean {
  const { code, cause } = Object(error);
  return unsent.includes(code) || (cause !== undefined && isUnsent(cause));
}

const unsent = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

type Watchdog = ReturnType<typeof startWatchdog>;

/**
 * Ends an attempt that takes too long or that the caller aborts.
 * @throws the reason of the caller's signal if it is already aborted
 */
function startWatchdog(exchange: Exchange) {
  const { signal, timeout, timeLeft } = exchange.call;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const rest = () => clearTimeout(timer);
  function watch(milliseconds: number): void {
    rest();
    timer = setTimeout(() => {
      const message = `Timed out after ${Math.ceil(milliseconds)} ms.`;
      controller.abort(exchangeError(exchange, 'timeout', message, {}));
    }, milliseconds);
  }

  watch(Math.min(timeout, Math.max(timeLeft(), 0)));
  return {
    /** Its reason is the caller's own or a PetstoreError. */
    signal: controller.signal,
    /** Stops the clock while the caller processes a chunk. */
    rest,
    restart: () => watch(timeout),
    stop() {
      rest();
      signal?.removeEventListener('abort', abort);
    },
  };
}
