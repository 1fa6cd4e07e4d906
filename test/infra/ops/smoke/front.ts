import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { checkStage } from '../../../../infra/ops/smoke/checkStage.ts';
import { rows, type SmokeSettings } from '../../../../infra/ops/smoke/rows.ts';

/** What is wrong with a stage. */
export interface Fault {
  /** Changes a request on its way in. */
  readonly ask?: (asked: FrontRequest) => void;
  /** Changes a response on its way out. */
  readonly answer?: (asked: FrontRequest, response: FrontResponse) => void;
}

export interface FrontRequest {
  readonly method: string;
  /** Relative to the base address. */
  path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FrontResponse {
  status: number;
  readonly headers: Record<string, string | undefined>;
  text: string;
}

/** Whatever answers requests to a base address, until it is disposed of. */
export async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export type Front = Awaited<ReturnType<typeof startFront>>;

/** A proxy in front of a stage, which spoils responses. */
export async function startFront(behind: string) {
  const state = {
    /** What was asked and answered, such as `GET /inventory 200`. */
    exchanges: [] as string[],
    faults: [] as readonly Fault[],
  };
  const served = await serve(async (incoming, outgoing) => {
    const { method = 'GET', url = '/' } = incoming;
    const { host: _, connection: __, ...headers } = incoming.headers;
    const asked: FrontRequest = { method, path: url.replace(/^\/v1/, ''), headers };
    const { path } = asked;
    for (const { ask } of state.faults) ask?.(asked);
    const response = await forward(behind, asked, await buffer(incoming));
    for (const { answer } of state.faults) answer?.(asked, response);
    state.exchanges.push(`${method} ${path} ${response.status}`);
    const sent = Object.entries(response.headers).filter(([, value]) => value !== undefined);
    outgoing.writeHead(response.status, sent as [string, string][]).end(response.text);
  });
  return Object.assign(state, served);
}

async function forward(
  behind: string,
  { method, path, headers }: FrontRequest,
  body: Buffer,
): Promise<FrontResponse> {
  const response = await fetch(behind + path, {
    method,
    headers: headers as Record<string, string>,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  // The body is decompressed, and has another length where it is spoiled.
  const own = /^(content-(encoding|length)|transfer-encoding|connection|keep-alive)$/;
  const others = [...response.headers].filter(([name]) => !own.test(name));
  return {
    status: response.status,
    headers: Object.fromEntries(others),
    text: await response.text(),
  };
}

/** Checks a stage, and takes apart what was printed. */
export async function smoke(
  settings: Pick<SmokeSettings, 'baseUrl' | 'apiKey'> & Partial<SmokeSettings>,
) {
  const lines: string[] = [];
  const { signal } = new AbortController();
  const defaults = {
    ...{ timeout: 10_000, deadline: 60_000, signal, isLight: false },
    ...{ throttles: undefined, entry: undefined, origin: undefined, commits: undefined },
  };
  const passed = await checkStage({ ...defaults, ...settings }, (line) => lines.push(line));
  return {
    passed,
    text: lines.join('\n'),
    rowsThat: (outcome: 'passed' | 'FAILED') =>
      Object.keys(rows).filter((_, index) => lines[index]?.startsWith(outcome)),
    failures: lines.filter((line) => line.startsWith('FAILED')),
  };
}
