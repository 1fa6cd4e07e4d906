import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { WholeAnswer } from '../../../../infra/openapi/answerProblems.ts';
import type { SocketCase } from '../cases/fuzzCase.ts';
import { type ReadAnswers, readAnswers } from './readAnswers.ts';

/** What came back on a connection. */
export interface Exchanged {
  readonly answers: readonly WholeAnswer[];
  /** Whether the client ended its side before it had an answer. */
  readonly hasGivenUp: boolean;
}

/** Sends cases on one connection, each without waiting for the answer to the last; `whole` ones only, if several. */
export async function exchange(
  port: number,
  cases: readonly SocketCase[],
  deadlineMilliseconds: number,
): Promise<Exchanged> {
  const methods = cases.map(
    ({ chunks }) => /^[^ ]*/.exec(String(Buffer.concat(chunks)))?.[0] ?? '',
  );
  const [{ framing } = { framing: 'whole' }] = cases;
  const { promise, resolve, reject } = Promise.withResolvers<ReadAnswers>();
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const received: Buffer[] = [];
  let patience: NodeJS.Timeout | undefined;
  const read = (isClosed = false) => readAnswers(Buffer.concat(received), methods, isClosed);
  const expire = setTimeout(() => reject(new Error(late)), deadlineMilliseconds);
  socket.on('data', (chunk) => {
    received.push(chunk);
    try {
      if (framing === 'whole' && read().answers.length >= cases.length) resolve(read());
      else if (framing === 'broken' && read().answers.length > 0) resolve(read());
    } catch (error) {
      reject(error);
    }
  });
  // A reset shows as what was received until then.
  socket.on('error', () => {});
  socket.on('close', () => {
    try {
      resolve(read(true));
    } catch (error) {
      reject(error);
    }
  });
  try {
    for (const { chunks } of cases) {
      for (const chunk of chunks) {
        socket.write(chunk);
        // In packets of their own, where a case has several.
        if (chunks.length > 1) await pause(0);
      }
    }
    let hasGivenUp = false;
    const giveUp = () => {
      hasGivenUp = true;
      socket.end();
    };
    if (framing === 'half') giveUp();
    if (framing === 'left') {
      await pause(1);
      return { answers: [], hasGivenUp: true };
    }
    // What claims to be longer than it is waits for more, which does not come.
    if (framing === 'broken') patience = setTimeout(giveUp, BROKEN_MILLISECONDS);
    const { answers } = await promise;
    return { answers, hasGivenUp };
  } finally {
    clearTimeout(patience);
    clearTimeout(expire);
    promise.catch(() => {});
    socket.destroy();
  }
}

/** What a missed deadline is told by. */
export const late = 'no answer by the deadline';

/** How long a broken request may wait for more, or for its answer, before its client ends it. */
const BROKEN_MILLISECONDS = 2_000;
