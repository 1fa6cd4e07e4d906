import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../../../shared/contract/values.ts';
import { findOperation } from '../../openapi/answerProblems.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import {
  checkHeader,
  checkResponse,
  type Expected,
  Mismatch,
  type ResponseHead,
  type StageResponse,
} from './expectation.ts';

/** The most requests of a run, including those that the gateway refuses with 429. */
export const MAX_REQUESTS = 100;

export interface StageRequest {
  /** `GET` by default. */
  readonly method?: string;
  /** Relative to the base address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** In place of the run's key; `null` sends none. */
  readonly apiKey?: string | null;
}

export interface SmokeSettings {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** An origin that the stage allows, if one is known. Every request comes from there, as a page's does. */
  readonly origin: string | undefined;
  /** What the gateway lets through; without it, only its 429s set the pace. */
  readonly throttles: StageSettings['throttles'] | undefined;
  /** What is live, compared with this checkout; nothing, where it may be anything. */
  readonly expectedCommit: LiveCommit | undefined;
  /** How long a response may be silent: before it begins, and between two pieces of its body. */
  readonly timeoutSeconds: number;
  readonly deadlineSeconds: number;
  /** Ends the run, as Ctrl-C does. */
  readonly signal: AbortSignal;
  /** The petId of the entry that may be written. */
  readonly entry: string | undefined;
  /** Whether the whole list is not to be read. */
  readonly isLight: boolean;
  readonly isVerbose: boolean;
}

export interface LiveCommit {
  readonly is: 'same' | 'another' | 'not known';
  /** A sentence for the report. */
  readonly text: string;
}

/** Sends the requests of a run, one after the other, at the pace that the stage takes. */
export interface SmokeClient {
  readonly counts: { readonly sent: number; readonly answered: number };
  /** @throws {Mismatch | NoResponse | RunOver} */
  send(request: StageRequest, ...expected: readonly Expected[]): Promise<StageResponse>;
  /** As `send`, for a 200 whose body is read as it comes. */
  stream<Value>(request: StageRequest, read: Read<Value>): Promise<Value>;
}

type Chunks = AsyncIterable<Uint8Array>;
type Read<Value> = (head: ResponseHead, chunks: Chunks) => Promise<Value>;

/** No response came, or not its end: the stage is slow, silent or out of reach. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
}

/** The run has used up its time or its requests, or was interrupted. */
export class RunOver extends Error {
  override readonly name = 'RunOver';
}

export function defineSmokeClient(settings: SmokeSettings): SmokeClient {
  const { baseUrl, origin, timeoutSeconds, deadlineSeconds, throttles } = settings;
  const deadline = AbortSignal.timeout(deadlineSeconds * 1_000);
  const stop = AbortSignal.any([deadline, settings.signal]);
  const turns = new Map<string, number>();
  const counts = { sent: 0, answered: 0, limited: 0 };

  /** Sends a request, again after each 429. */
  async function exchange<Value>(request: StageRequest, read: Read<Value>): Promise<Value> {
    const { method = 'GET', path, headers, body, apiKey = settings.apiKey } = request;
    const asked = `${method} ${path}`;
    for (;;) {
      await waitForTurn(findOperation(method, path) ?? 'other');
      const timeout = new AbortController();
      const timer = setTimeout(() => timeout.abort(), timeoutSeconds * 1_000);
      let head: ResponseHead | undefined;
      try {
        const response = await fetch(baseUrl + path, {
          method,
          headers: {
            'Accept-Encoding': 'identity',
            ...(origin !== undefined && { Origin: origin }),
            ...(apiKey !== null && { Authorization: `Bearer ${apiKey}` }),
            ...headers,
          },
          ...(body !== undefined && { body }),
          redirect: 'manual',
          signal: AbortSignal.any([stop, timeout.signal]),
        });
        counts.answered += 1;
        head = { asked, status: response.status, headers: response.headers };
        if (head.status !== 429) return await read(head, refreshTimer(response, timer));
      } catch (error) {
        throw stop.aborted
          ? toRunOver()
          : toFailure(error as Error, asked, head, timeout.signal.aborted);
      } finally {
        clearTimeout(timer);
        // Closes the connection where some of the body is left.
        timeout.abort();
      }
      counts.limited += 1;
      const seconds = Number(head.headers.get('Retry-After') ?? 1);
      await pause((seconds >= 0 ? seconds : 1) * 1_000);
    }
  }

  /** The gateway lets an operation's requests through at its rate. */
  async function waitForTurn(operation: keyof StageSettings['throttles']): Promise<void> {
    if (counts.sent === MAX_REQUESTS) {
      const limited = `of which ${counts.limited} were answered 429`;
      throw new RunOver(`The run has sent its ${MAX_REQUESTS} requests, ${limited}.`);
    }
    counts.sent += 1;
    const now = performance.now();
    const turn = Math.max(turns.get(operation) ?? now, now);
    if (throttles) turns.set(operation, turn + 1_000 / throttles[operation].rate);
    await pause(turn - now);
  }

  async function pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: stop }).catch(() => {
      throw toRunOver();
    });
  }

  /** After the end of the run, every error is that end. */
  function toRunOver(): RunOver {
    const late = `The run was not done within ${deadlineSeconds} s.`;
    return new RunOver(deadline.aborted ? late : 'The run was interrupted.');
  }

  function toFailure(
    error: Error,
    asked: string,
    head: ResponseHead | undefined,
    isLate: boolean,
  ): Error {
    // What fetch throws by itself has a cause; all else comes from whoever reads the body.
    if (!isLate && error.cause === undefined) return error;
    if (!isLate && head) return new Mismatch(head, 'a whole body', 'and broke off');
    const { message, code } = (error.cause ?? error) as NodeJS.ErrnoException;
    const what = head ? `answered ${head.status} and did not go on` : 'got no answer';
    const why = isLate ? ` within ${timeoutSeconds} s` : `: ${message || code}`;
    return new NoResponse(`${asked} ${what}${why}.`);
  }

  function check(response: ResponseHead | StageResponse, expected: readonly Expected[]): void {
    checkResponse(response, expected);
    const header = 'Access-Control-Allow-Origin';
    if (origin === undefined || response.headers.get(header) === '*') return;
    checkHeader(response, header, origin);
  }

  async function readWhole(head: ResponseHead, chunks: Chunks, expected: readonly Expected[]) {
    const bytes = Buffer.concat(await Array.fromAsync(chunks));
    const text = bytes.toString('utf8');
    const response = { ...head, bytes, text, json: () => parseJson(text) };
    check(response, expected);
    return response;
  }

  return {
    counts,
    send: (request, ...expected) =>
      exchange(request, (head, chunks) => readWhole(head, chunks, expected)),
    stream: (request, read) =>
      exchange(request, async (head, chunks) => {
        // The body of an error is short, and says what is wrong.
        if (head.status >= 400) await readWhole(head, chunks, [200]);
        check(head, [200]);
        return read(head, chunks);
      }),
  };
}

async function* refreshTimer(
  { body }: Response,
  timer: NodeJS.Timeout,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body ?? []) {
    timer.refresh();
    yield chunk;
  }
}
