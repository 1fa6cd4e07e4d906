import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { parseJson } from '../../../shared/contract/json.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { findResponseProblems } from '../../openapi/responseProblems.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';

/** How many requests a run sends at most, including those that the gateway refuses with 429. */
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
  /** Skips the check of the body: validating a million entries takes a gigabyte. */
  readonly isLong?: boolean;
}

export interface StageResponse {
  /** Such as `GET /inventory?limit=1`. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
}

/** A status of success, or the code of an error. */
export type Expected = 200 | 204 | 304 | ErrorCode;

export interface SmokeClientSettings {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** An origin that the stage allows, if one is known. Every request has it, like one from a page. */
  readonly origin: string | undefined;
  /** The gateway's throttles; without them, only its 429s set the pace. */
  readonly throttles: StageSettings['throttles'] | undefined;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/** An unexpected response. The message is a complete report. */
export class Mismatch extends Error {
  readonly status: number;

  /** @param came what is wrong with the response; by default, its body */
  constructor({ asked, status, headers, text }: StageResponse, expected: string, came = text) {
    const requestId = headers.get('X-Request-Id') ?? 'missing';
    const excerpt = `${status} ${came.slice(0, 160)}`.trim();
    super(`${asked} returned ${excerpt} (request id ${requestId}); expected ${expected}.`);
    this.status = status;
  }
}

/** Ends the run: a response did not come, or the run's time or requests are used up. */
export class RunOver extends Error {}

const stopped = 'The run was interrupted, or took longer than a minute.';

export type SmokeClient = ReturnType<typeof defineSmokeClient>;

/** Sends the requests of a run one by one, at the pace of the stage. */
export function defineSmokeClient(settings: SmokeClientSettings) {
  const { baseUrl, origin, throttles, signal } = settings;
  const turns = new Map<string, number>();
  const counts = { sent: 0 };

  /** Sends a request, again after each 429. @throws {Mismatch | RunOver} */
  async function send(
    request: StageRequest,
    ...expected: readonly Expected[]
  ): Promise<StageResponse> {
    for (;;) {
      await waitForTurn(findOperation(request.method ?? 'GET', request.path) ?? 'other');
      const response = await exchange(request);
      if (response.status === 429) {
        const seconds = Number(response.headers.get('Retry-After') ?? 1);
        await pause((seconds >= 0 ? seconds : 1) * 1_000);
        continue;
      }
      checkResponse(response, expected, request.isLong);
      const header = 'Access-Control-Allow-Origin';
      if (origin !== undefined && response.headers.get(header) !== '*') {
        checkHeader(response, header, origin);
      }
      return response;
    }
  }

  async function exchange(request: StageRequest): Promise<StageResponse> {
    const { method = 'GET', path, headers, body, apiKey = settings.apiKey } = request;
    const asked = `${method} ${path}`;
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
        signal,
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const text = bytes.toString('utf8');
      return { asked, status: response.status, headers: response.headers, bytes, text };
    } catch (error) {
      if (signal.aborted) throw new RunOver(stopped);
      const { message, code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
      throw new RunOver(`${asked} got no whole response: ${message || code}.`);
    }
  }

  /** Keeps to the gateway's rate of an operation. */
  async function waitForTurn(operation: keyof StageSettings['throttles']): Promise<void> {
    if (counts.sent === MAX_REQUESTS) {
      throw new RunOver(`The run has sent its ${MAX_REQUESTS} requests, some of which got 429.`);
    }
    counts.sent += 1;
    const now = performance.now();
    const turn = Math.max(turns.get(operation) ?? now, now);
    // The settings may be wrong.
    const { rate = 0 } = throttles?.[operation] ?? {};
    if (rate > 0) turns.set(operation, turn + 1_000 / rate);
    await pause(turn - now);
  }

  async function pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal }).catch(() => {
      throw new RunOver(stopped);
    });
  }

  return { counts, send };
}

/**
 * Checks every response: one of the statuses, an X-Request-Id, and nothing that the OpenAPI document lacks.
 * Other headers are allowed, since a proxy or a CDN adds its own.
 */
function checkResponse(
  response: StageResponse,
  expected: readonly Expected[],
  isLong = false,
): void {
  const { asked, status, headers, text } = response;
  const wanted: (string | number)[] = expected.map((one) =>
    typeof one === 'number' ? one : `${statusOfCode[one]} ${one}`,
  );
  // The document lets the gateway's own errors have any code.
  const [, code] = (status >= 400 && /"code":"(\w+)"/.exec(text)) || [];
  if (!wanted.includes(code ? `${status} ${code}` : status)) {
    throw new Mismatch(response, wanted.join(' or '));
  }
  const [method = '', path = ''] = asked.split(' ');
  const checked = isLong ? { status, headers } : response;
  const [problem] = findResponseProblems(method, path, checked, { isProxied: true });
  if (problem !== undefined) {
    throw new Mismatch(response, `a response as documented. ${problem.replace(/\.$/, '')}`);
  }
  if (!headers.has('X-Request-Id')) throw new Mismatch(response, 'an X-Request-Id');
}

/** @throws {Mismatch} when the header has another value, or is missing */
export function checkHeader(
  response: StageResponse,
  name: string,
  expected: string | RegExp,
  words = `${expected}`,
): void {
  const value = response.headers.get(name) ?? '';
  const matches = typeof expected === 'string' ? value === expected : expected.test(value);
  if (!matches)
    throw new Mismatch(response, `${name}: ${words}`, `with ${name}: ${value || 'none'}`);
}

/** The body, with integers past 2^53 as bigint. */
export function readJson<Body>({ text }: StageResponse): Body {
  return parseJson(text) as Body;
}
