import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { findOperation } from '../../../infra/openapi/answerProblems.ts';
import { type Clock, systemClock } from '../../../infra/ops/smoke/asking/clock.ts';
import { stages } from '../../../infra/stages/stages.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';

/** What is wrong with a stage. */
export interface PlantedFault {
  /** Changes a request on its way in. */
  readonly ask?: (asked: FrontRequest) => void;
  /** Changes an answer on its way out. */
  readonly answer?: (asked: FrontRequest, answer: FrontAnswer) => void;
}

export interface FrontRequest {
  readonly method: string;
  /** Relative to the base address. */
  path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FrontAnswer {
  status: number;
  readonly headers: IncomingHttpHeaders;
  /** Not compressed. */
  text: string;
  /** Whether the connection breaks behind half of the body. */
  breaksOff?: boolean;
}

/** A proxy before a stage, on which faults are planted. */
export interface Front {
  readonly baseUrl: string;
  /** What was asked and answered, such as `GET /inventory 200`. */
  readonly exchanges: string[];
  fault: PlantedFault;
  /** Whether requests are limited as staging limits them. */
  isLimited: boolean;
  close(): void;
}

/** @param clock by which requests are limited */
export async function startFront(behind: string, clock = systemClock): Promise<Front> {
  const mayPass = defineLimits(clock);

  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const asked: FrontRequest = { method, path: url.replace(/^\/v1/, ''), headers };
    const { path } = asked;
    if (front.isLimited && !mayPass(findOperation(method, path) ?? 'other')) {
      front.exchanges.push(`${method} ${path} 429`);
      incoming.resume();
      outgoing.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '1' });
      outgoing.end('{"code":"too_many_requests","message":"Too many.","status":429}');
      return;
    }
    front.fault.ask?.(asked);
    const answer = await forward(behind, asked, await buffer(incoming));
    front.fault.answer?.(asked, answer);
    front.exchanges.push(`${method} ${path} ${answer.status}`);
    const isGzip = answer.headers['content-encoding'] === 'gzip';
    const body = isGzip ? gzipSync(answer.text) : Buffer.from(answer.text);
    const { 'content-length': _, 'transfer-encoding': __, ...others } = answer.headers;
    const length =
      answer.status === 204 || answer.status === 304 ? {} : { 'Content-Length': body.length };
    outgoing.writeHead(answer.status, { ...others, ...length });
    if (answer.breaksOff)
      outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
    else outgoing.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const front: Front = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    exchanges: [],
    fault: {},
    isLimited: false,
    close() {
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
): Promise<FrontAnswer> {
  const onward = request(`${behind}${path}`, { method, headers }).end(body);
  const [response] = await once(onward, 'response');
  const bytes = await buffer(response);
  const isGzip = response.headers['content-encoding'] === 'gzip';
  const text = (isGzip ? gunzipSync(bytes) : bytes).toString();
  return { status: response.statusCode, headers: response.headers, text };
}

/** Token buckets, as the gateway has them for each operation and for the rest. */
function defineLimits(clock: Clock): (of: OperationId | 'other') => boolean {
  const { throttles } = stages.staging.settings;
  const buckets = new Map<string, { tokens: number; at: number }>();
  return (of) => {
    const { rate, burst } = throttles[of];
    const now = clock.now();
    const { tokens, at } = buckets.get(of) ?? { tokens: burst, at: now };
    const left = Math.min(burst, tokens + ((now - at) / 1_000) * rate);
    buckets.set(of, { tokens: left >= 1 ? left - 1 : left, at: now });
    return left >= 1;
  };
}
