import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { findResponseProblems } from '../../docs/openapi/responseProblems.ts';
import type { Probe } from '../../gateway/probes.ts';

/** How many requests a run sends at most, including those that the gateway refuses with 429. */
export const MAX_REQUESTS = 100;

export interface SmokeSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** An origin that the stage allows, if one is known. Every request has it, like one from a page. */
  readonly origin: string | undefined;
  readonly entry: string | undefined;
  readonly isLight: boolean;
  readonly signal: AbortSignal;
}

/** `GET` by default. `apiKey` replaces the run's key; an empty one is not sent. */
type SmokeRequest = Pick<Probe, 'path'> & Partial<Probe> & { readonly apiKey?: string };
/** `asked` is such as `GET /inventory?limit=1`. */
type SmokeResponse = Record<'asked' | 'text', string> & Pick<Response, 'status' | 'headers'>;

/** An unexpected response. The message is a complete report. */
export class Mismatch extends Error {
  readonly status: number;

  /** @param came what is wrong with the response; by default, its body */
  constructor({ asked, status, headers, text }: SmokeResponse, expected: string, came = text) {
    const excerpt = `${status} ${came.slice(0, 160)}`.trim();
    const requestId = headers.get('X-Request-Id') ?? 'missing';
    super(`${asked} returned ${excerpt} (request id ${requestId}); expected ${expected}.`);
    this.status = status;
  }
}

export type SmokeClient = ReturnType<typeof defineSmokeClient>;

/** Sends the requests of a run one by one. An error other than a `Mismatch` ends the run. */
export function defineSmokeClient({ baseUrl, apiKey: ownKey, origin, signal }: SmokeSettings) {
  const counts = { sent: 0 };

  /** Sends a request, again after each 429. */
  async function send(request: SmokeRequest, ...expected: (number | ErrorCode)[]) {
    const { method = 'GET', path, body = null, apiKey = ownKey } = request;
    const headers = {
      ...(origin && { Origin: origin }),
      ...(apiKey && { Authorization: `Bearer ${apiKey}` }),
      ...request.headers,
    };
    const init = { method, headers, body, redirect: 'manual', signal } as const;
    while (counts.sent < MAX_REQUESTS) {
      counts.sent += 1;
      const response = await exchange(`${method} ${path}`, baseUrl + path, init);
      if (response.status !== 429) return check(response, expected);
      const seconds = Number(response.headers.get('Retry-After') ?? 1);
      await sleep((seconds >= 0 ? seconds : 1) * 1_000, undefined, { signal });
    }
    throw new Error(`The run has sent its ${MAX_REQUESTS} requests, some of which got 429.`);
  }

  /** Other headers than those of the document are allowed, since a proxy or a CDN adds its own. */
  function check(response: SmokeResponse, expected: readonly (number | ErrorCode)[]) {
    const { asked, status, headers, text } = response;
    const wanted = expected.map((one) =>
      typeof one === 'number' ? `${one}` : `${statusOfCode[one]} ${one}`,
    );
    // The document lets the gateway's own errors have any code.
    const [, code] = (status >= 400 && /"code":"(\w+)"/.exec(text)) || [];
    const found = code ? `${status} ${code}` : `${status}`;
    if (!wanted.includes(found)) throw new Mismatch(response, wanted.join(' or '));
    const decoded = new Headers([...headers].filter(([name]) => name !== 'content-encoding'));
    // To validate a million entries takes a gigabyte.
    const body = text.length < 1_000_000 && { bytes: Buffer.from(text) };
    const [method = '', path = ''] = asked.split(' ');
    const whole = { status, headers: decoded, ...body };
    const [problem] = findResponseProblems(method, path, whole, { isProxied: true });
    if (problem) throw new Mismatch(response, `a response as documented. ${problem.slice(0, -1)}`);
    // The document has no preflights.
    if (!headers.has('X-Request-Id')) throw new Mismatch(response, 'an X-Request-Id');
    const allowed = 'Access-Control-Allow-Origin';
    if (origin && headers.get(allowed) !== '*') checkHeader(response, allowed, origin);
    return response;
  }

  return { counts, send };
}

async function exchange(asked: string, url: string, init: RequestInit): Promise<SmokeResponse> {
  try {
    const response = await fetch(url, init);
    const { status, headers } = response;
    return { asked, status, headers, text: await response.text() };
  } catch (error) {
    const { message, code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    throw new Error(`${asked} got no whole response: ${message || code}.`);
  }
}

/** @throws {Mismatch} when the header has another value, or is missing */
export function checkHeader(response: SmokeResponse, name: string, expected: string): void {
  const value = response.headers.get(name) ?? 'none';
  if (value === expected) return;
  throw new Mismatch(response, `${name}: ${expected}`, `with ${name}: ${value}`);
}
