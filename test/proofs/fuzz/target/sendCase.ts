import type { WholeAnswer } from '../../../../infra/openapi/answerProblems.ts';
import type { EventCase, FuzzCase, SocketCase } from '../cases/fuzzCase.ts';
import type { Failure } from '../oracles/failure.ts';
import { callFunction } from './callFunction.ts';
import { exchange, late } from './exchange.ts';
import type { FuzzTarget } from './fuzzTarget.ts';

/** What became of a case: an answer, a failure to give one, or neither, where its client left. */
export interface Outcome {
  readonly one: FuzzCase;
  readonly answer?: WholeAnswer;
  readonly failure?: Failure;
}

/** Sends events, and bytes that are to share a connection. */
export interface Sender {
  sendEvent(one: EventCase): Promise<readonly Outcome[]>;
  sendBytes(cases: readonly SocketCase[]): Promise<readonly Outcome[]>;
}

/** @param deadlineMilliseconds how long each answer may take */
export function defineSender(target: FuzzTarget, deadlineMilliseconds: number): Sender {
  return {
    async sendEvent(one) {
      try {
        const called = callFunction(target.functions[one.request.operationId], one);
        return [{ one, answer: await within(deadlineMilliseconds, called) }];
      } catch (error) {
        return [{ one, failure: toFailure(one, error) }];
      }
    },

    async sendBytes(cases) {
      try {
        const { answers, hasGivenUp } = await exchange(target.port, cases, deadlineMilliseconds);
        const outcomes = cases.map((one, index) => {
          const answer = answers[index];
          if (answer) return { one, answer };
          return hasGivenUp ? { one } : { one, failure: toUnanswered(one) };
        });
        // Bytes that are more than one request have several answers.
        const [one] = cases;
        const others = answers
          .slice(cases.length)
          .flatMap((answer) => (one ? { one, answer } : []));
        return [...outcomes, ...others];
      } catch (error) {
        return cases.map((one) => ({ one, failure: toFailure(one, error) }));
      }
    },
  };
}

async function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(late)), milliseconds);
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

function toUnanswered({ framing, number }: SocketCase): Failure {
  const problem = `the connection ended without an answer to ${framing} bytes`;
  return { oracle: 'status', problem, number };
}

function toFailure({ number, transport }: FuzzCase, error: unknown): Failure {
  const { message, stack = message } = error as Error;
  return message === late
    ? { oracle: 'deadline', problem: `${message} (${transport})`, number }
    : { oracle: 'status', problem: `the ${transport} failed: ${stack.slice(0, 600)}`, number };
}
