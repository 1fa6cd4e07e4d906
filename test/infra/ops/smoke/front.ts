import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

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

/** A proxy in front of a stage, which spoils responses. */
export interface Front extends Disposable {
  readonly baseUrl: string;
  /** What was asked and answered, such as `GET /inventory 200`. */
  readonly exchanges: string[];
  faults: readonly Fault[];
}

export async function startFront(behind: string): Promise<Front> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url = '/' } = incoming;
    const { host: _, connection: __, ...headers } = incoming.headers;
    const asked: FrontRequest = { method, path: url.replace(/^\/v1/, ''), headers };
    const { path } = asked;
    for (const { ask } of front.faults) ask?.(asked);
    const response = await forward(behind, asked, await buffer(incoming));
    for (const { answer } of front.faults) answer?.(asked, response);
    front.exchanges.push(`${method} ${path} ${response.status}`);
    const sent = Object.entries(response.headers).filter(([, value]) => value !== undefined);
    outgoing.writeHead(response.status, sent as [string, string][]).end(response.text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const front: Front = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    exchanges: [],
    faults: [],
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
  return front;
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
