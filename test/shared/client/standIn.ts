import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { type ClientOptions, createPetstoreClient } from '../../../shared/client/index.ts';

export const apiKey = 'psk_standin_secret';

/** A response, a function that makes one, or an error of `standIn.fetch` in place of a request. */
export type StandInResponse =
  | { status?: number; headers?: OutgoingHttpHeaders; body?: string }
  | ((response: ServerResponse) => void)
  | Error;

interface StandInRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** By `performance.now()`. */
  readonly time: number;
  /** Settles when the connection of the response ends. */
  readonly closed: Promise<unknown>;
}

/** Replaces the service by an HTTP server for the tests of a file, without pauses longer than needed. */
export function useStandIn() {
  const standIn = {
    baseUrl: '',
    /** The requests of the current test. */
    requests: [] as StandInRequest[],
    /** The responses to the next requests in order; the last one repeats. */
    responses: [] as StandInResponse[],
    fetch: (url: string, init: RequestInit): Promise<Response> =>
      standIn.responses[0] instanceof Error
        ? Promise.reject(standIn.responses.shift())
        : fetch(url, init),
    open: (options?: Partial<ClientOptions>) =>
      createPetstoreClient({ baseUrl: standIn.baseUrl, apiKey, ...options }),
  };
  const server = createServer(async (incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const time = performance.now();
    const closed = once(response, 'close');
    standIn.requests.push({ method, url, headers, body: await text(incoming), time, closed });
    const next = standIn.responses.length > 1 ? standIn.responses.shift() : standIn.responses[0];
    if (typeof next === 'function') next(response);
    else if (!(next instanceof Error))
      response.writeHead(next?.status ?? 200, next?.headers).end(next?.body ?? '[]');
  });

  beforeAll(async () => {
    standIn.baseUrl = `http://127.0.0.1:${await listen(server, 0, '')}/v1`;
  });
  beforeEach(() => {
    standIn.requests.length = 0;
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return standIn;
}

/** Breaks the connection instead of a response. */
export const lost: StandInResponse = (response) => response.destroy();

/** Never responds. */
export const silent: StandInResponse = () => {};

/** Begins a body, and falls silent. */
export const unfinished =
  (status: number, body: string, headers = {}): StandInResponse =>
  (response) =>
    void response.writeHead(status, headers).write(body);

/** Begins a body, and breaks the connection. */
export const brokenOff =
  (body: string, status = 200): StandInResponse =>
  (response) =>
    void response.writeHead(status).write(body, () => setImmediate(() => response.destroy()));

/** The service's Error body. */
export const toError = (
  status: number,
  code: string,
  headers: OutgoingHttpHeaders = {},
  message = `It is ${code}.`,
) => ({ status, headers, body: JSON.stringify({ code, message, status }) });

/** The gateway's, under a wrong base URL, by its code: since release 3.0 and before. */
export const unknownPaths = ['unknown_path', 'not_found'].map((code) =>
  toError(404, code, {}, gatewayErrors.RESOURCE_NOT_FOUND.message),
);
