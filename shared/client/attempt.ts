import { type RefusalCode, refusalCodes } from '../contract/errorBody.ts';
import { parseJson } from '../contract/json.ts';
import type { OperationId, operations } from '../contract/operations.ts';
import { parseErrorResponse } from './errorResponse.ts';
import {
  PetstoreError,
  type PetstoreErrorCode,
  type PetstoreErrorDetails,
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
  /** Relative to the base URL. */
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
  /** The last attempt that changed something, or may have; 0 if there is none. */
  unknownAttempt: number;
}

/** A response with its headers. */
interface OpenResponse {
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
 * Sends a request once, and reads the response to its end.
 * @param toValue converts the response; any error from it means that the response is invalid
 * @throws {PetstoreError} if no response comes, or an error response
 * @throws the reason of the caller's signal if it is aborted
 */
export async function attemptRequest<Value>(
  exchange: Exchange,
  toValue: (whole: WholeResponse) => Value,
): Promise<Value> {
  const { call, request, unknownAttempt } = exchange;
  const { operationId } = request;
  const watchdog = startWatchdog(exchange);
  let response: Response | undefined;
  exchange.attempts += 1;
  try {
    response = await untilAborted(fetchResponse(exchange, watchdog), watchdog);
    const opened = { exchange, response, watchdog };
    const { headers, status } = response;
    call.settings.reportDeprecation(operationId, headers);
    call.onResponse?.({ operationId, status, headers, requestId: readRequestId(headers) });
    const isUnchanged = status === 304 && request.headers?.['If-None-Match'] !== undefined;
    // The service has no other success.
    if (status === 200 || isUnchanged) {
      return readValue(opened, await readText(opened), toValue);
    }
    throw await readError(opened, unknownAttempt);
  } catch (error) {
    // A function of the caller may have thrown: the connection must end. A body that was read rejects this.
    response?.body?.cancel?.().catch(() => {});
    throw watchdog.signal.aborted ? watchdog.reason : error;
  } finally {
    watchdog.stop();
  }
}

/** @param unknownAttempt before this attempt */
async function readError(opened: OpenResponse, unknownAttempt: number): Promise<unknown> {
  const { exchange, response } = opened;
  const { status } = response;
  const reading = readText(opened);
  // Only a 5xx says enough without its body.
  const text = await (status < 500 ? reading : reading.catch(() => ''));
  if (status < 500 && isOpen(text, '{')) return breakError(opened);
  const { code, message, isRefusal, ...details } = parseErrorResponse(response, text);
  if (isRefusal) exchange.unknownAttempt = isOutcome(exchange, code) ? 0 : unknownAttempt;
  return responseError(opened, code, message, details);
}

function readValue<Value>(
  opened: OpenResponse,
  text: string,
  toValue: (whole: WholeResponse) => Value,
): Value {
  const { status, headers } = opened.response;
  try {
    return toValue({ status, headers, document: text === '' ? undefined : parseJson(text) });
  } catch (cause) {
    const { isList } = opened.exchange.request;
    const isCutOff = text.trim() === '' || isOpen(text, isList ? '[' : '{');
    throw isCutOff ? breakError(opened) : invalidResponseError(opened, cause);
  }
}

async function readText(opened: OpenResponse): Promise<string> {
  const { response, watchdog } = opened;
  // A response of the caller's own `fetch` may have only a text.
  const reader = response.body?.getReader?.();
  try {
    if (!reader) return await untilAborted(response.text(), watchdog);
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), watchdog);
      text += decoder.decode(value, { stream: !done });
      if (done) return text;
    }
  } catch (cause) {
    throw breakError(opened, cause);
  } finally {
    // The connection must end, also if `fetch` ignores the signal. Errors in the rest no longer matter.
    reader?.cancel().catch(() => {});
  }
}

/** The error for a truncated body. */
function breakError(opened: OpenResponse, cause?: unknown): unknown {
  if (opened.watchdog.signal.aborted) return opened.watchdog.reason;
  const isList = opened.exchange.request.isList && opened.response.status === 200;
  const code = isList ? 'incomplete_list' : 'connection_failed';
  return responseError(opened, code, 'The response was truncated.', { cause });
}

/** @param cause if it is a PetstoreError, its message says more */
function invalidResponseError(opened: OpenResponse, cause: unknown): PetstoreError {
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

/** For a write, the message says what it did. */
function exchangeError(
  exchange: Exchange,
  code: PetstoreErrorCode,
  message: string,
  details: PetstoreErrorDetails,
): PetstoreError {
  const { request, attempts, unknownAttempt } = exchange;
  const { operationId } = request;
  // Another adjustment with the key took effect or was refused.
  const isUnknown = unknownAttempt > 0 || code === 'idempotency_key_reused';
  const effect = isUnknown ? 'unknown' : 'none';
  const whole = message + describeEffect(exchange, code);
  return new PetstoreError(code, whole, { effect, operationId, attempts, ...details });
}

function describeEffect(exchange: Exchange, code: PetstoreErrorCode): string {
  const { request, attempts, unknownAttempt } = exchange;
  if (request.method === 'GET') return '';
  const name = request.method === 'POST' ? 'adjustment' : 'update';
  if (unknownAttempt > 0) {
    const by = unknownAttempt < attempts ? ' by an earlier attempt' : '';
    return ` The ${name} may or may not have been applied${by}.`;
  }
  if (code === 'idempotency_key_reused') return '';
  // An earlier call may have had an effect.
  const by = isOutcome(exchange, code) ? '' : ' by this call';
  return ` The ${name} was not applied${by}.`;
}

/** Whether it is the outcome of an `Idempotency-Key`: no earlier request with the key had an effect. */
function isOutcome({ request }: Exchange, code: PetstoreErrorCode): boolean {
  return request.method === 'POST' && refusalCodes.includes(code as RefusalCode);
}

/** The caller's `fetch` or key function may ignore the signal. */
function untilAborted<Value>(promise: Promise<Value>, watchdog: Watchdog): Promise<Value> {
  const { signal } = watchdog;
  return new Promise((resolve, reject) => {
    const abort = () => reject(watchdog.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

async function fetchResponse(exchange: Exchange, watchdog: Watchdog): Promise<Response> {
  const { attempts, unknownAttempt, call, request } = exchange;
  const { baseUrl, readApiKey, fetch = globalThis.fetch } = call.settings;
  const { method, path, query = {}, headers = {}, body } = request;
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(query)) {
    // React Native has no `set`.
    if (value !== undefined) url.searchParams.append(name, String(value));
  }
  const allHeaders = new Headers(call.headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) allHeaders.set(name, value);
  }
  const apiKey = exchange.apiKey ?? (await readApiKey());
  // The key function may have taken too long.
  if (watchdog.signal.aborted) throw watchdog.reason;
  exchange.apiKey = apiKey;
  if (body !== undefined) allHeaders.set('Content-Type', 'application/json');
  allHeaders.set('Authorization', `Bearer ${apiKey}`);
  if (method !== 'GET') exchange.unknownAttempt = attempts;
  try {
    return await fetch(url.href, {
      method,
      headers: allHeaders,
      body: body ?? null,
      signal: watchdog.signal,
      // The key must go only to the base URL.
      redirect: 'manual',
    });
  } catch (cause) {
    const isSent = !isUnsent(cause);
    // After a timeout, the next attempt may already run.
    if (!isSent && !watchdog.signal.aborted) exchange.unknownAttempt = unknownAttempt;
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

interface Watchdog {
  readonly signal: AbortSignal;
  /** Why the signal is aborted: the caller's own reason or a PetstoreError. Some signals do not keep it. */
  reason: unknown;
  stop(): void;
}

/**
 * Ends an attempt that takes too long or that the caller aborts.
 * @throws the reason of the caller's signal if it is already aborted
 */
function startWatchdog(exchange: Exchange): Watchdog {
  const { signal, timeout, timeLeft } = exchange.call;
  const controller = new AbortController();
  const milliseconds = Math.min(timeout, Math.max(timeLeft(), 0));
  const watchdog: Watchdog = {
    signal: controller.signal,
    reason: undefined,
    stop() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
  function end(reason: unknown): void {
    watchdog.reason = reason;
    controller.abort(reason);
  }
  const abort = () => end(signal && readReason(signal));
  if (signal?.aborted) throw readReason(signal);
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(() => {
    const message = `Timed out after ${Math.ceil(milliseconds)} ms.`;
    end(exchangeError(exchange, 'timeout', message, {}));
  }, milliseconds);
  return watchdog;
}

/** A signal of React Native or jsdom may have no reason. */
function readReason({
  reason = Object.assign(new Error('The call was aborted.'), { name: 'AbortError' }),
}: AbortSignal): unknown {
  return reason;
}
