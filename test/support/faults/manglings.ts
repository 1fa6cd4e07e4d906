import type { ServerResponse } from 'node:http';
import type { EngineAnswer } from './faults.ts';

/** Sends what the engine answered as the fault has it, or does not. */
export type Mangling = (answer: EngineAnswer, response: ServerResponse) => void;

const page = '<html><body>Please sign in to this network.</body></html>';

/** Milliseconds between two bytes of an answer that trickles. */
const TRICKLE = 500;
/** Milliseconds by which an answer is late that the service has the patience for. */
const LATENCY = 1_000;

/** How an answer can go wrong on its way, once its call has taken effect. */
export const manglings = {
  late: (answer, response) => void setTimeout(() => sendWhole(answer, response), LATENCY),
  lostAnswer: (_, response) => response.socket?.resetAndDestroy(),
  lostInError: (_, response) => void response.writeHead(500).end('{}'),
  lostInSilence() {},
  /** The head and half of the body, and then the connection breaks. */
  brokenBody(answer, response) {
    sendHalf(answer, response, () => response.destroy());
  },
  /** The head and half of the body, and then nothing. */
  stalledBody: (answer, response) => sendHalf(answer, response, () => {}),
  /** Half of the body, and a length that agrees with it. */
  truncated(answer, response) {
    const body = toHalf(answer);
    sendWhole({ ...answer, headers: withLength(answer, body.length), body }, response);
  },
  emptied(answer, response) {
    sendWhole({ ...answer, headers: withLength(answer, 0), body: Buffer.alloc(0) }, response);
  },
  htmlPage(_, response) {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  },
  notHttp(_, response) {
    response.socket?.end('\u0000\u0001 these bytes are not HTTP\r\n\r\n');
  },
  /** A byte at a time, so that the connection is never silent for long. */
  trickle({ status, headers, body }, response) {
    response.writeHead(status, headers).flushHeaders();
    let sent = 0;
    const timer = setInterval(() => {
      if (sent === body.length) response.end();
      else response.write(body.subarray(sent, ++sent));
    }, TRICKLE);
    response.once('close', () => clearInterval(timer));
  },
  /** The whole answer, and then the connection breaks. */
  resetAfterwards(answer, response) {
    sendWhole(answer, response, () => setImmediate(() => response.socket?.resetAndDestroy()));
  },
} as const satisfies Record<string, Mangling>;

export type MangledFault = keyof typeof manglings;

function sendWhole(
  { status, headers, body }: EngineAnswer,
  response: ServerResponse,
  done = () => {},
): void {
  response.writeHead(status, headers).end(body, done);
}

function sendHalf(answer: EngineAnswer, response: ServerResponse, done: () => void): void {
  response.writeHead(answer.status, answer.headers).write(toHalf(answer), done);
}

function toHalf({ body }: EngineAnswer): Buffer {
  return body.subarray(0, Math.ceil(body.length / 2));
}

function withLength({ headers }: EngineAnswer, length: number): EngineAnswer['headers'] {
  return { ...headers, 'content-length': String(length) };
}
