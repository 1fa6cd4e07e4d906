import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';

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
  readonly headers: IncomingHttpHeaders;
  /** Not compressed. */
  text: string;
  /** Whether the connection breaks after half of the body. */
  breaksOff?: boolean;
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
    const { method = 'GET', url = '/', headers } = incoming;
    const asked: FrontRequest = { method, path: url.replace(/^\/v1/, ''), headers };
    const { path } = asked;
    for (const { ask } of front.faults) ask?.(asked);
    const response = await forward(behind, asked, await buffer(incoming));
    for (const { answer } of front.faults) answer?.(asked, response);
    front.exchanges.push(`${method} ${path} ${response.status}`);
    const isGzip = response.headers['content-encoding'] === 'gzip';
    const body = isGzip ? gzipSync(response.text) : Buffer.from(response.text);
    const { 'content-length': _, 'transfer-encoding': __, ...others } = response.headers;
    const length = response.status === 204 ? {} : { 'Content-Length': body.length };
    outgoing.writeHead(response.status, { ...others, ...length });
    if (response.breaksOff) {
      outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
    } else outgoing.end(body);
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
  const onward = request(`${behind}${path}`, { method, headers }).end(body);
  const [response] = await once(onward, 'response');
  const bytes = await buffer(response);
  const isGzip = response.headers['content-encoding'] === 'gzip';
  const text = (isGzip ? gunzipSync(bytes) : bytes).toString();
  return { status: response.statusCode, headers: response.headers, text };
}
