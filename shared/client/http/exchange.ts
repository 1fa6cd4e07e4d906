import type { OperationId } from '../../contract/operations.ts';
import type { Call } from './call.ts';
import { toAnswerDetails, toPetstoreError } from './errorAnswer.ts';
import { PetstoreError } from './petstoreError.ts';
import { type Query, routes } from './routes.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export interface PetstoreRequest<Id extends OperationId = OperationId> {
  readonly operationId: Id;
  /** What `{petId}` stands for. */
  readonly petId?: string;
  readonly query?: Query<Id>;
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
    call.settings.noticeDeprecation(request.operationId, response.headers);
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
    throw toBreakError(answer, cause);
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
    throw toBreakError(answer, cause);
  } finally {
    watchdog.stop();
    // Whatever is wrong with the rest, nobody wants it any more.
    reader?.cancel().catch(() => {});
  }
}

async function fetchAnswer(
  { settings: { baseUrl, apiKey } }: Call,
  { operationId, petId = '', query = {}, headers, body }: PetstoreRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { method, path } = routes[operationId];
  const url = new URL(baseUrl + path.replace('{petId}', petId));
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
function toBreakError({ request, response, watchdog }: OpenAnswer, cause: unknown): unknown {
  if (watchdog.signal.aborted) return watchdog.signal.reason;
  const code = request.answersList ? 'incomplete_list' : 'connection_failed';
  const details = toAnswerDetails(response.headers, response.status);
  return new PetstoreError(code, 'The answer broke off.', { ...details, cause });
}
