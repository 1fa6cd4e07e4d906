import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { findAnswerProblems, type WholeAnswer } from '../../../infra/openapi/answerProblems.ts';
import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { operations } from '../../../shared/contract/operations.ts';
import type { FuzzCase } from './cases.ts';
import { secretMark } from './texts.ts';

/** What became of a case: an answer, a problem in place of one, or neither, where its client left. */
export interface Outcome {
  readonly one: FuzzCase;
  readonly answer?: WholeAnswer;
  readonly problem?: string;
}

export interface Answered extends Outcome {
  readonly answer: WholeAnswer;
}

/** What is wrong with an answer by itself. */
export function findOwnProblems({ one, answer }: Answered): string[] {
  const { status, bytes } = answer;
  const isImpossible = one.transport === 'event' && !one.isPossible;
  if (status >= 500 && !(isImpossible && status === 500)) {
    return [`status: ${status} ${bytes.toString('utf8', 0, 200)}`];
  }
  const problems = status >= 400 && !isHead(one) ? findErrorProblems(answer) : [];
  return [...problems, ...findDocumentProblems(one, answer)].map(
    (problem) => `body: ${status}: ${problem}`,
  );
}

/** The gateway's own 413 is plain text on AWS, and nothing of ours can change that. */
function findErrorProblems({ status, headers, bytes }: WholeAnswer): string[] {
  const type = headers.get('content-type') ?? '';
  if (status === 413 && type === 'text/plain') return [];
  if (type !== 'application/json') return [`an error of the type "${type}"`];
  const text = bytes.toString('utf8');
  try {
    const { code, message, status: repeated, ...others } = JSON.parse(text);
    const isError =
      statusOfCode[code as ErrorCode] === status &&
      repeated === status &&
      typeof message === 'string' &&
      message.length > 0 &&
      Object.keys(others).length === 0;
    return isError ? [] : [`no Error body: ${text.slice(0, 200)}`];
  } catch {
    return [`invalid JSON: ${text.slice(0, 200)}`];
  }
}

/** Nobody can say which operation invalid HTTP asks for. */
function findDocumentProblems(one: FuzzCase, answer: WholeAnswer): readonly string[] {
  const { operationId, method, path, query } = one.request;
  if (one.transport === 'event') {
    const { method: called, path: template } = operations[operationId];
    return findAnswerProblems(called, template.replace('{petId}', '1'), answer);
  }
  if (one.framing !== 'whole' || isHead(one) || isRefusedByGateway(answer)) return [];
  return findAnswerProblems(method, `${path}?${query}`, answer);
}

/** Headers that are too large are refused alike at every address. */
function isRefusedByGateway({ status, bytes }: WholeAnswer): boolean {
  return status === 400 && bytes.includes(gatewayErrors.DEFAULT_4XX.message);
}

function isHead({ transport, request }: FuzzCase): boolean {
  return transport === 'socket' && request.method === 'HEAD';
}

/** What a line says of its request. */
interface LogLine {
  readonly requestId?: string;
  readonly operation?: string;
  readonly sourceIp?: string;
  readonly status?: number | string;
  readonly keyId?: string;
}

/**
 * What is wrong with the lines that were written for these answers.
 * @param secrets of the keys in use
 */
export function findLogProblems(
  written: readonly string[],
  answered: readonly Answered[],
  secrets: readonly string[],
): string[] {
  const problems: string[] = [];
  const secret = new RegExp(['psk_', secretMark, ...secrets].join('|'));
  const watched = new Map<string, Answered & { lines: number }>();
  for (const each of answered) {
    const requestId = each.answer.headers.get('x-request-id');
    if (requestId !== null) watched.set(requestId, { ...each, lines: 0 });
  }
  for (const text of written) {
    if (secret.test(text)) problems.push(`secret: in the line ${text.slice(0, 300)}`);
    const line = parseLine(text);
    if (!line) {
      const shown = JSON.stringify(text.slice(0, 300));
      problems.push(`log: no JSON object on a line of its own: ${shown}`);
      continue;
    }
    const { requestId = '', operation, sourceIp, status, keyId } = line;
    const request = watched.get(requestId);
    // The client left, or had no valid HTTP.
    if (!request) continue;
    const { one, answer } = request;
    if (operation === undefined && sourceIp === undefined) {
      // An answer of 500 and more is a problem by itself.
      if (answer.status < 500) problems.push(`log: an error’s line: ${text.slice(0, 2_000)}`);
      continue;
    }
    request.lines += 1;
    if (Number(status) !== answer.status) {
      problems.push(`log: status ${status} of an answer with ${answer.status}`);
    }
    if (keyId !== undefined && !sendsKey(one, keyId)) {
      problems.push(`log: the key id ${keyId}, which the request did not send`);
    }
  }
  for (const { one, lines } of watched.values()) {
    if (lines > 1 || (lines === 0 && needsLine(one))) {
      problems.push(`log: ${lines} lines of one request`);
    }
  }
  return problems;
}

/**
 * What a line says, where it is one of Lambda's console or of the gateway's access log.
 * @returns nothing, when the text is not exactly one line with one such object
 */
function parseLine(text: string): LogLine | undefined {
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

/** Invalid HTTP is answered without a line. */
function needsLine(one: FuzzCase): boolean {
  return one.transport === 'event' ? one.isPossible : one.framing === 'whole';
}

function sendsKey(one: FuzzCase, keyId: string): boolean {
  const sent =
    one.transport === 'event'
      ? JSON.stringify(one.event)
      : Buffer.concat(one.chunks).toString('latin1');
  return sent.includes(`psk_${keyId}`);
}

/** How much more may be in use in the last third of a run than in the second. */
const MAX_GROWTH = 8 * 1024 * 1024;
/** Fewer tell a trend from chance only where it is steep. */
const MIN_SAMPLES = 9;

/**
 * Memory is flat if the median of the last third of the samples is at most 8 MB above that of the second;
 * the first third is for caches to fill.
 */
export function findHeapProblems(samples: readonly number[]): string[] {
  if (samples.length < MIN_SAMPLES) return [];
  const third = Math.floor(samples.length / 3);
  const growth =
    median(samples.slice(-third)) - median(samples.slice(third, samples.length - third));
  if (growth <= MAX_GROWTH) return [];
  return [
    `heap: ${(growth / 1024 / 1024).toFixed(1)} MB more in the last third than in the second`,
  ];
}

/**
 * Bytes in use after a collection, buffers outside of V8's heap included, in this thread, where gateway and
 * functions are, and not the engine.
 */
export function measureHeap(): number {
  collect ??= exposeCollection();
  // Buffers outside of the heap go by the collection after the one that found them unused.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let collect: (() => void) | undefined;

/** No process has to be started with a flag for it. */
function exposeCollection(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
