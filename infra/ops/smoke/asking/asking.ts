import { buffer } from 'node:stream/consumers';
import { parseJson } from '../../../../shared/contract/values.ts';
import type { OpenAnswer } from './exchange.ts';
import { type Answer, checkAnswer, checkHead, type Expected } from './expectation.ts';
import { type AskedHead, Mismatch, RunOver } from './failures.ts';
import { defineSender, type SenderSettings, type StageRequest } from './sender.ts';

/** A run's requests and their answers, one after the other. */
export interface Asking extends Disposable {
  readonly baseUrl: string;
  /** How many requests were sent. */
  sent(): number;
  /** How many of them were answered, be it with 429. */
  answered(): number;
  /**
   * @throws {Mismatch} when the answer is none of those expected, or not as documented
   * @throws {NoAnswer | RunOver}
   */
  ask(request: StageRequest, ...expected: readonly Expected[]): Promise<Answer>;
  /** As `ask`, for a body that is read while it comes; what is left of it is not waited for. */
  askStreamed<Value>(
    request: StageRequest,
    expected: readonly Expected[],
    read: (answer: OpenAnswer) => Promise<Value>,
  ): Promise<Value>;
}

export interface AskingSettings extends SenderSettings {
  /** How long the run may take. */
  readonly deadlineSeconds: number;
}

export function defineAsking(settings: AskingSettings): Asking {
  const { baseUrl, deadlineSeconds } = settings;
  const run = AbortSignal.timeout(deadlineSeconds * 1_000);
  const sender = defineSender(settings, run);
  const requestIds = new Set<string>();

  /** Whatever the time of the run ends is told as that. */
  async function withinRun<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      if (!run.aborted) throw error;
      throw new RunOver(`The run was not done within ${deadlineSeconds} s.`);
    }
  }

  function checkRequestId(head: AskedHead): void {
    const requestId = head.headers.get('X-Request-Id');
    const topic = 'The header X-Request-Id is missing.';
    if (requestId === null) throw new Mismatch(head, 'an X-Request-Id', undefined, topic);
    if (requestIds.has(requestId)) {
      throw new Mismatch(head, 'an X-Request-Id of its own', 'with that of an earlier request');
    }
    requestIds.add(requestId);
  }

  return {
    baseUrl,
    sent: () => sender.sent,
    answered: () => sender.answered,
    ask: (request, ...expected) =>
      withinRun(async () => {
        const answer = await readWhole(await sender.send(request, false));
        checkAnswer(answer, expected);
        checkRequestId(answer);
        return answer;
      }),
    askStreamed: (request, expected, read) =>
      withinRun(async () => {
        const answer = await sender.send(request, true);
        try {
          // An error is short, and tells what is wrong.
          if (answer.status >= 400) checkAnswer(await readWhole(answer), expected);
          else checkHead(answer, expected);
          checkRequestId(answer);
          return await read(answer);
        } finally {
          answer.discard();
        }
      }),
    [Symbol.dispose]: () => sender[Symbol.dispose](),
  };
}

async function readWhole({ chunks, discard: _, ...head }: OpenAnswer): Promise<Answer> {
  const bytes = await buffer(chunks);
  const text = bytes.toString('utf8');
  return { ...head, bytes, text, json: () => parseJson(text) };
}
