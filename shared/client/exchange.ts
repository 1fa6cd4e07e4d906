import type { OperationId, operations } from '../contract/operations.ts';
import { type Call, startWatchdog, type Watchdog } from './call.ts';
import { PetstoreError, toAnswerDetails, toPetstoreError } from './petstoreError.ts';

type Contract = typeof operations;

/** A path with something in the place of each parameter. */
type Filled<Path extends string> = Path extends `${infer Start}{${string}}${infer Rest}`
  ? `${Start}${string}${Filled<Rest>}`
  : Path;

type QueryNames<Of> = Of extends { readonly query: infer Query } ? keyof Query : never;

/** It compiles only as long as it is what the contract says. */
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
  /** Whether it may be sent again though an earlier attempt may have had its effect. */
  readonly isRepeatable: boolean;
  readonly answersList?: boolean;
}

/** An answer of which the headers are there. Who has it reads the body or stops the watchdog. */
export interface OpenAnswer {
  readonly request: PetstoreRequest;
  readonly response: Response;
  readonly watchdog: Watchdog;
}

/**
 * Sends a request once.
 * @throws {PetstoreError} when no answer comes, or that of an error
 * @throws the reason of the caller's signal when that is aborted
 */
export async function openAnswer(call: Call, request: PetstoreRequest): Promise<OpenAnswer> {
  const watchdog = startWatchdog(call);
  try {
    const response = await fetchAnswer(call, request, watchdog.signal);
    call.settings.reportDeprecation(request.operationId, response.headers);
    if (response.ok || response.status === 304) return { request, response, watchdog };
    throw toPetstoreError(response, await response.text().catch(() => ''));
  } catch (error) {
    watchdog.stop();
    throw watchdog.signal.aborted ? watchdog.signal.reason : error;
  }
}

/** The whole body. */
export async function readText(answer: OpenAnswer): Promise<string> {
  try {
    return await answer.response.text();
  } catch (cause) {
    throw breakError(answer, cause);
  } finally {
    answer.watchdog.stop();
  }
}

/** The body piece by piece, as it arrives. Whoever stops early ends the connection. */
export async function* readPieces(answer: OpenAnswer): AsyncGenerator<string, void, undefined> {
  const { response, watchdog } = answer;
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
    throw breakError(answer, cause);
  } finally {
    watchdog.stop();
    // Whatever is wrong with the rest, nobody wants it any more.
    reader?.cancel().catch(() => {});
  }
}

async function fetchAnswer(
  { settings: { baseUrl, apiKey } }: Call,
  { method, path, query = {}, headers, body }: PetstoreRequest,
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const allHeaders = new Headers({ ...headers, Authorization: `Bearer ${apiKey}` });
  try {
    return await fetch(url, {
      method,
      headers: allHeaders,
      ...(body !== undefined && { body }),
      signal,
      // Stock is of this moment, and a key goes to no address but the one that it was given for.
      cache: 'no-store',
      redirect: 'manual',
    });
  } catch (cause) {
    throw new PetstoreError('connection_failed', 'The service could not be reached.', { cause });
  }
}

/** What to throw when a body breaks off. */
function breakError({ request, response, watchdog }: OpenAnswer, cause: unknown): unknown {
  if (watchdog.signal.aborted) return watchdog.signal.reason;
  const code = request.answersList ? 'incomplete_list' : 'connection_failed';
  const details = toAnswerDetails(response.headers, response.status);
  return new PetstoreError(code, 'The answer broke off.', { ...details, cause });
}
