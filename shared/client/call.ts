import type { OperationId, operations } from '../contract/operations.ts';
import { parseExactJson } from './json.ts';
import {
  PetstoreError,
  type PetstoreErrorCode,
  toPetstoreError,
  toResponseDetails,
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
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
  /** Whether a retry is safe after an attempt that may have taken effect. */
  readonly isRepeatable: boolean;
  readonly isList?: boolean;
}

/** A response with its headers. The caller must read the body or stop the watchdog. */
interface OpenResponse {
  readonly request: PetstoreRequest;
  readonly response: Response;
  readonly watchdog: Watchdog;
}

/** A complete response. */
interface WholeResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; undefined without a body. */
  readonly document: unknown;
}

/**
 * Sends a request, retries it if that is safe and useful, and reads the response.
 * @param toValue converts the response; any error from it means that the response is invalid
 */
export function send<Id extends OperationId, Value>(
  call: Call,
  request: PetstoreRequest<Id>,
  toValue: (whole: WholeResponse) => Value,
): Promise<Value> {
  return withRetries(call, request.isRepeatable, async () => {
    const opened = await openResponse(call, request);
    const { status, headers } = opened.response;
    const text = await readText(opened);
    try {
      return toValue({ status, headers, document: text === '' ? undefined : parseExactJson(text) });
    } catch (cause) {
      const isCutOff = request.isList && /^\s*\[/.test(text) && !/\]\s*$/.test(text);
      throw isCutOff ? breakError(opened, cause) : invalidResponseError(opened, cause);
    }
  });
}

/** The error for a truncated body. */
export function breakError(opened: OpenResponse, cause?: unknown): unknown {
  if (opened.watchdog.signal.aborted) return opened.watchdog.signal.reason;
  const code = opened.request.isList ? 'incomplete_list' : 'connection_failed';
  return responseError(opened, code, 'The response was truncated.', cause);
}

export function invalidResponseError(opened: OpenResponse, cause: unknown): PetstoreError {
  const message = `The response is not a valid ${opened.request.operationId} response.`;
  return responseError(opened, 'invalid_answer', message, cause);
}

function responseError(
  { response: { headers, status } }: OpenResponse,
  code: PetstoreErrorCode,
  message: string,
  cause: unknown,
): PetstoreError {
  return new PetstoreError(code, message, { ...toResponseDetails(headers, status), cause });
}

/** Milliseconds. */
const FIRST_BACKOFF = 200;
const MAX_BACKOFF = 5_000;

/**
 * Retries temporary failures, after a pause of at least `Retry-After`.
 * @param isRepeatable whether a retry is safe after an attempt that may have taken effect
 * @throws {PetstoreError} of the last attempt if no retries or no time are left
 */
export async function withRetries<Value>(
  call: Call,
  isRepeatable: boolean,
  attempt: () => Promise<Value>,
): Promise<Value> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof PetstoreError) || retries === call.maxRetries) throw error;
      if (!isRetryable(error, isRepeatable)) throw error;
      const { retryAfter = 0 } = error;
      const delay = retryAfter * 1_000 + drawBackoff(FIRST_BACKOFF, retries);
      if (delay >= call.timeLeft()) throw error;
      await pause(delay, call.signal);
    }
  }
}

/** Waits, or ends early on abort. It does not throw: the next attempt checks the signal. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(stop, milliseconds);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
  });
}

/**
 * Random milliseconds up to `first`, doubled after each attempt, so that clients do not collide again (full jitter):
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 * @param attempt counted from 0
 */
export function drawBackoff(first: number, attempt: number): number {
  return Math.random() * Math.min(first * 2 ** attempt, MAX_BACKOFF);
}

/** Only a 429 certainly had no effect and is certainly temporary. */
function isRetryable({ code, status = 0 }: PetstoreError, isRepeatable: boolean): boolean {
  if (status === 429) return true;
  return isRepeatable && (status >= 500 || passing.includes(code));
}

const passing: readonly string[] = ['connection_failed', 'timeout', 'incomplete_list'];

/**
 * Sends a request once.
 * @throws {PetstoreError} if no response comes, or an error response
 * @throws the reason of the caller's signal if it is aborted
 */
export async function openResponse(call: Call, request: PetstoreRequest): Promise<OpenResponse> {
  const watchdog = startWatchdog(call);
  const { operationId } = request;
  try {
    const fetching = fetchResponse(call, request, watchdog.signal);
    const response = await untilAborted(fetching, watchdog.signal);
    const { headers, status } = response;
    call.settings.reportDeprecation(operationId, headers);
    const requestId = headers.get('X-Request-Id') ?? undefined;
    call.onResponse?.({ operationId, status, headers, requestId });
    if (response.ok || response.status === 304) return { request, response, watchdog };
    throw toPetstoreError(response, await response.text().catch(() => ''));
  } catch (error) {
    watchdog.stop();
    throw watchdog.signal.aborted ? watchdog.signal.reason : error;
  }
}

async function readText(opened: OpenResponse): Promise<string> {
  try {
    return await opened.response.text();
  } catch (cause) {
    throw breakError(opened, cause);
  } finally {
    opened.watchdog.stop();
  }
}

/** The body in chunks, as they arrive. Stopping early ends the connection. */
export async function* readPieces(opened: OpenResponse): AsyncGenerator<string, void, undefined> {
  const { response, watchdog } = opened;
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      watchdog.restart();
      const piece = await reader?.read();
      watchdog.rest();
      if (!piece || piece.done) return;
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

/** The caller's `fetch` or key function may ignore the signal. */
function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    promise.then(resolve, reject);
  });
}

async function fetchResponse(
  { settings: { baseUrl, readApiKey, fetch = globalThis.fetch }, headers: callHeaders }: Call,
  { method, path, query = {}, headers = {}, body }: PetstoreRequest,
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const allHeaders = new Headers(callHeaders);
  for (const [name, value] of Object.entries(headers)) allHeaders.set(name, value);
  allHeaders.set('Authorization', `Bearer ${await readApiKey()}`);
  // The key function may have taken too long.
  signal.throwIfAborted();
  try {
    return await fetch(url.href, {
      method,
      headers: allHeaders,
      ...(body !== undefined && { body }),
      signal,
      // Stock must be current, and the key must go only to the base address.
      cache: 'no-store',
      redirect: 'manual',
    });
  } catch (cause) {
    throw new PetstoreError('connection_failed', 'The service could not be reached.', { cause });
  }
}

type Watchdog = ReturnType<typeof startWatchdog>;

/**
 * Ends an attempt that takes too long or that the caller aborts.
 * @throws the reason of the caller's signal if it is already aborted
 */
function startWatchdog({ signal, timeout, timeLeft }: Call) {
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

function timeoutError(milliseconds: number): PetstoreError {
  return new PetstoreError('timeout', `Timed out after ${Math.ceil(milliseconds)} ms.`);
}
