import { type ErrorCode, statusOfCode } from '../../../../shared/contract/errorBody.ts';
import { type Operation, toLifecycleHeaders } from '../../../../shared/contract/operation.ts';
import { operations } from '../../../../shared/contract/operations.ts';
import {
  findAnswerProblems,
  findHeadProblems,
  findOperation,
} from '../../../openapi/answerProblems.ts';
import { type AskedHead, Mismatch } from './failures.ts';

/** A status without an error, or the code of one. */
export type Expected = 200 | 204 | 304 | ErrorCode;

/** A whole answer. */
export interface Answer extends AskedHead {
  readonly bytes: Buffer;
  readonly text: string;
  /** The body, with integers past 2^53 as bigint. */
  json(): unknown;
}

/**
 * Holds what each answer has to have: one of the statuses, nothing that the interface's document does not
 * tell of, and the headers of a deprecated operation.
 * @throws {Mismatch} when it does not
 */
export function checkAnswer(answer: Answer, expected: readonly Expected[]): void {
  checkStatus(answer, expected);
  const [method = '', path = ''] = answer.asked.split(' ');
  checkProblems(answer, findAnswerProblems(method, path, answer));
  if (answer.status >= 400) checkErrorCode(answer, expected);
  checkLifecycle(answer);
}

/** As `checkAnswer`, of an answer whose body is still to come. */
export function checkHead(head: AskedHead, expected: readonly Expected[]): void {
  checkStatus(head, expected);
  const [method = '', path = ''] = head.asked.split(' ');
  checkProblems(head, findHeadProblems(method, path, head));
}

function checkStatus(head: AskedHead, expected: readonly Expected[]): void {
  if (expected.some((one) => toStatus(one) === head.status)) return;
  const wanted = expected.map(toWords).join(' or ');
  const topic = head.status >= 500 ? `${head.status}` : `${head.status} in place of ${wanted}`;
  throw new Mismatch(head, wanted, undefined, topic);
}

function checkProblems(head: AskedHead, [problem]: readonly string[]): void {
  if (problem === undefined) return;
  const expected = `an answer as documented. ${problem.replace(/\.$/, '')}`;
  throw new Mismatch(head, expected, undefined, problem);
}

/** What the gateway answers by itself may have any code, as far as the document goes. */
function checkErrorCode(answer: Answer, expected: readonly Expected[]): void {
  const { code, status } = answer.json() as { code: ErrorCode; status: number };
  if (expected.includes(code) && status === answer.status) return;
  throw new Mismatch(answer, expected.map(toWords).join(' or '));
}

/** The link leads to where the stage's documentation is, which is not known here. */
function checkLifecycle(answer: Answer): void {
  const [method = '', path = ''] = answer.asked.split(' ');
  const operationId = findOperation(method, path);
  if (operationId === undefined) return;
  const { lifecycle }: Operation = operations[operationId];
  const { Link, ...wanted } = toLifecycleHeaders(lifecycle, '');
  for (const [name, value] of Object.entries(wanted)) checkHeader(answer, name, value);
  const guide = Link?.slice(1);
  if (guide === undefined || answer.headers.get('Link')?.endsWith(guide)) return;
  throw new Mismatch(answer, `a Link to …${guide}`, `with the Link ${answer.headers.get('Link')}`);
}

/**
 * @param words what is wanted, for the report
 * @throws {Mismatch} when the header has another value, or is not there
 */
export function checkHeader(
  head: AskedHead,
  name: string,
  wanted: string | RegExp,
  words = `${wanted}`,
): void {
  const value = head.headers.get(name);
  const isWanted = typeof wanted === 'string' ? value === wanted : wanted.test(value ?? '');
  if (value !== null && isWanted) return;
  const came = value === null ? `without ${name}` : `with ${name}: ${value}`;
  throw new Mismatch(head, `${name}: ${words}`, came);
}

function toStatus(expected: Expected): number {
  return typeof expected === 'number' ? expected : statusOfCode[expected];
}

function toWords(expected: Expected): string {
  return typeof expected === 'number' ? `${expected}` : `${toStatus(expected)} ${expected}`;
}
