import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { WholeAnswer } from '../../../infra/openapi/answerProblems.ts';
import type { SocketCase } from './cases.ts';

/** The failure of whatever had no answer by its deadline. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** What came back on a connection. */
export interface Exchanged {
  readonly answers: readonly WholeAnswer[];
  /** Whether the client ended its side before it had an answer. */
  readonly hasGivenUp: boolean;
}

/**
 * Sends cases on one connection, each without waiting for the answer to the last; `whole` ones only, if several.
 * @param giveUp ends the client's side of a `broken` case, which may claim to be longer than it is
 * @throws {Error} when the answers are invalid HTTP
 * @throws {DeadlinePassed}
 */
export async function exchange(
  port: number,
  cases: readonly SocketCase[],
  deadlineMilliseconds: number,
  giveUp?: AbortSignal,
): Promise<Exchanged> {
  const methods = cases.map(({ chunks }) => /^[^ ]*/.exec(String(chunks[0]))?.[0] ?? '');
  const framing = cases[0]?.framing ?? 'whole';
  const { promise, resolve, reject } = Promise.withResolvers<readonly WholeAnswer[]>();
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const received: Buffer[] = [];
  const read = (isClosed: boolean) => {
    try {
      const answers = readAnswers(Buffer.concat(received), methods, isClosed);
      const isEnough = framing === 'half' ? isClosed : answers.length >= cases.length;
      if (isClosed || isEnough) resolve(answers);
    } catch (error) {
      reject(error);
    }
  };
  socket.on('data', (chunk) => {
    received.push(chunk);
    read(false);
  });
  // A reset shows as what was received until then.
  socket.on('error', () => {});
  socket.on('close', () => read(true));
  let hasGivenUp = false;
  const end = () => {
    hasGivenUp = true;
    socket.end();
  };
  const timer = setTimeout(
    () => reject(new DeadlinePassed(`no answer by the deadline to ${framing} bytes`)),
    deadlineMilliseconds,
  );
  giveUp?.addEventListener('abort', end);
  try {
    for (const { chunks } of cases) {
      for (const chunk of chunks) {
        socket.write(chunk);
        // In packets of their own, where a case has several.
        if (chunks.length > 1) await pause(0);
      }
    }
    if (framing === 'half') end();
    if (framing === 'left') {
      await pause(1);
      return { answers: [], hasGivenUp: true };
    }
    return { answers: await promise, hasGivenUp };
  } finally {
    giveUp?.removeEventListener('abort', end);
    clearTimeout(timer);
    promise.catch(() => {});
    socket.destroy();
  }
}

/**
 * Reads the whole answers to requests with these methods, in their order; past the last, as to a GET.
 * @param isClosed whether no more is to come, which is how an answer to HTTP/1.0 may end
 * @throws {Error} when the bytes are invalid HTTP
 */
function readAnswers(
  bytes: Buffer,
  methods: readonly string[],
  isClosed: boolean,
): readonly WholeAnswer[] {
  const answers: WholeAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return answers;
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new Error(`an answer begins with ${JSON.stringify(first)}`);
    const headers = new Headers(lines.map((line) => splitLine(line)));
    rest = rest.subarray(end + 4);
    if (status < 200) continue;
    const isEmpty = status === 204 || status === 304 || methods[answers.length] === 'HEAD';
    const body = isEmpty
      ? { bytes: Buffer.alloc(0), length: 0 }
      : readBody(rest, headers, isClosed);
    if (!body) return answers;
    answers.push({ status, headers, bytes: body.bytes });
    rest = rest.subarray(body.length);
  }
}

function splitLine(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/** @returns nothing while the body is not whole, else it and its length on the connection */
function readBody(bytes: Buffer, headers: Headers, isClosed: boolean) {
  if (headers.get('transfer-encoding') !== 'chunked') {
    const length = Number(headers.get('content-length') ?? (isClosed ? bytes.length : Infinity));
    return bytes.length < length ? undefined : { bytes: bytes.subarray(0, length), length };
  }
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (Number.isNaN(size)) throw new Error('an answer has a chunk without a size');
    const next = line + 2 + size + 2;
    if (bytes.length < next) return undefined;
    if (size === 0) return { bytes: Buffer.concat(chunks), length: next };
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
