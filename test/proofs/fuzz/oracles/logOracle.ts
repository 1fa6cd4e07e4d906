import type { WholeAnswer } from '../../../../infra/openapi/answerProblems.ts';
import type { FuzzCase } from '../cases/fuzzCase.ts';
import { secretMark } from '../cases/fuzzRequest.ts';
import type { Failure } from './failure.ts';

/** What a line says of its request. */
interface SaidLine {
  readonly requestId?: string;
  readonly operation?: string;
  readonly sourceIp?: string;
  readonly status?: number | string;
  readonly keyId?: string;
}

interface Watched {
  readonly one: FuzzCase;
  readonly status: number;
  /** How many lines tell of the request as a whole. */
  lines: number;
  readonly age: number;
}

/** Holds log lines against what was answered. */
export interface LogOracle {
  /** Is told of each answer. */
  expect(one: FuzzCase, answer: WholeAnswer): void;
  /** Reads what was written since; a line may come a while after its answer. */
  judge(written: readonly string[]): Failure[];
}

/** @param secrets of the keys in use */
export function defineLogOracle(secrets: readonly string[]): LogOracle {
  const secret = new RegExp(['psk_', secretMark, ...secrets].join('|'));
  const watched = new Map<string, Watched>();
  let age = 0;

  function judgeLine(text: string): Failure[] {
    const failures: Failure[] = [];
    const first = watched.values().next().value?.one.number;
    const fail = (oracle: 'log' | 'secret', problem: string, number = first) =>
      void failures.push({ oracle, problem, ...(number !== undefined && { number }) });
    if (secret.test(text)) fail('secret', `in the line ${text.slice(0, 300)}`);
    const line = parseLine(text);
    if (!line) {
      fail('log', `no JSON object on a line of its own: ${JSON.stringify(text.slice(0, 300))}`);
      return failures;
    }
    const { requestId = '', operation, sourceIp, status, keyId } = line;
    const request = watched.get(requestId);
    if (!request) return failures;
    const { one } = request;
    if (operation === undefined && sourceIp === undefined) {
      // Of answers of 500 and more, the oracle of statuses tells.
      if (request.status < 500) fail('log', `an error’s line: ${text.slice(0, 2_000)}`, one.number);
      return failures;
    }
    request.lines += 1;
    if (Number(status) !== request.status) {
      fail('log', `status ${status} of an answer with ${request.status}`, one.number);
    }
    if (keyId !== undefined && !sendsKey(one, keyId)) {
      fail('log', `the key id ${keyId}, which the request did not send`, one.number);
    }
    return failures;
  }

  return {
    expect(one, { status, headers }) {
      const requestId = headers.get('x-request-id');
      if (requestId !== null) watched.set(requestId, { one, status, lines: 0, age });
    },
    judge(written) {
      const failures = written.flatMap(judgeLine);
      age += 1;
      for (const [requestId, { one, lines, age: since }] of watched) {
        if (since > age - SETTLED) break;
        watched.delete(requestId);
        if (lines === 1 || (lines === 0 && !needsLine(one))) continue;
        failures.push({
          oracle: 'log',
          problem: `${lines} lines of one request`,
          number: one.number,
        });
      }
      return failures;
    },
  };
}

/** After so many looks no line is to come. */
const SETTLED = 3;

/**
 * What a line says, where it is one of Lambda's console or of the gateway's access log.
 * @returns nothing, when the text is not exactly one line with one such object
 */
function parseLine(text: string): SaidLine | undefined {
  if (text.indexOf('\n') !== text.length - 1) return undefined;
  try {
    const line = JSON.parse(text);
    const { timestamp, level, message, sourceIp, requestId } = line ?? {};
    const isConsole = [timestamp, level].every((one) => typeof one === 'string');
    if (isConsole) return typeof message === 'object' && message !== null ? message : undefined;
    return [sourceIp, requestId].every((one) => typeof one === 'string') ? line : undefined;
  } catch {
    return undefined;
  }
}

/** Bytes that are no HTTP are answered without a line. */
function needsLine(one: FuzzCase): boolean {
  return one.transport === 'event' ? one.isPossible : one.framing === 'whole';
}

function sendsKey({ request, ...one }: FuzzCase, keyId: string): boolean {
  const sent =
    one.transport === 'event'
      ? JSON.stringify(one)
      : Buffer.concat((one as { chunks: readonly Buffer[] }).chunks).toString('latin1');
  return sent.includes(`psk_${keyId}`) || JSON.stringify(request.headers).includes(`psk_${keyId}`);
}
