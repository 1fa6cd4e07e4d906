import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { WholeResponse } from '../../../infra/openapi/responseProblems.ts';
import type { FuzzCase, SocketCase } from './cases.ts';
import type { FuzzTarget } from './target.ts';

/** The outcome of a case: a response, a problem instead, or neither if its client left. */
export interface Outcome {
  readonly one: FuzzCase;
  readonly response?: WholeResponse;
  readonly problem?: string;
}

/** How long broken requests may wait for more bytes after the other requests of their batch have their responses. */
const GIVE_UP_MILLISECONDS = 30;

export async function send(
  target: FuzzTarget,
  cases: readonly FuzzCase[],
  deadlineMilliseconds: number,
): Promise<Outcome[]> {
  const giveUp = new AbortController();
  const expired = Promise.withResolvers<never>();
  const late = new Error('no response by the deadline');
  const timer = setTimeout(() => expired.reject(late), deadlineMilliseconds);

  async function sendOne(one: FuzzCase): Promise<Outcome> {
    try {
      const sending =
        one.transport === 'event' ? target.call(one) : exchange(target.port, one, giveUp.signal);
      const response = await Promise.race([sending, expired.promise]);
      return response ? { one, response } : { one };
    } catch (error) {
      if (error === late) return { one, problem: `deadline: ${late.message}` };
      const { stack = '' } = error as Error;
      return { one, problem: `status: the ${one.transport} failed: ${stack.slice(0, 600)}` };
    }
  }

  const isBroken = (one: FuzzCase) => one.transport === 'socket' && one.framing !== 'whole';
  const broken = Promise.all(cases.filter(isBroken).map(sendOne));
  const sound = await Promise.all(cases.filter((one) => !isBroken(one)).map(sendOne));
  await Promise.race([broken, pause(GIVE_UP_MILLISECONDS)]);
  giveUp.abort();
  const outcomes = [...sound, ...(await broken)];
  clearTimeout(timer);
  return outcomes;
}

/**
 * Sends the bytes on a connection of their own, and reads the first response.
 * @param giveUp ends the client's side of a `broken` case, which may claim to be longer than it is
 * @returns nothing if the client left before its response
 * @throws {Error} if the response is invalid HTTP, or the connection ended without one
 */
async function exchange(
  port: number,
  { chunks, framing }: SocketCase,
  giveUp: AbortSignal,
): Promise<WholeResponse | undefined> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  // Node.js's own client parses the response. Its own request is dropped, and the case's bytes are sent unchanged.
  const wire = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  socket.on('data', (chunk) => wire.push(chunk));
  // After a reset, the bytes received until then count.
  socket.on('error', () => {}).on('close', () => wire.push(null));
  let hasLeft = false;
  const leave = () => {
    hasLeft = true;
    socket.end();
  };
  giveUp.addEventListener('abort', leave);
  const method = chunks[0]?.toString().startsWith('HEAD ') ? 'HEAD' : 'GET';
  const response = readResponse(method, wire);
  response.catch(() => {});
  try {
    for (const chunk of chunks) {
      socket.write(chunk);
      // Several chunks go in separate packets.
      if (chunks.length > 1) await pause(0);
    }
    if (framing === 'half') leave();
    if (framing === 'left') return void (await pause(1));
    return await response;
  } catch (error) {
    if (hasLeft) return undefined;
    throw error;
  } finally {
    giveUp.removeEventListener('abort', leave);
    socket.destroy();
  }
}

async function readResponse(method: string, wire: Duplex): Promise<WholeResponse> {
  const reading = request({ method, createConnection: () => wire }).end();
  // Bytes after the response are ignored.
  reading.on('error', () => {});
  const [response] = (await once(reading, 'response')) as [IncomingMessage];
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return { status: response.statusCode ?? 0, headers, bytes: await buffer(response) };
}
