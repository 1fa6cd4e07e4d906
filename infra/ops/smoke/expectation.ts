import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { type Operation, toLifecycleHeaders } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import {
  type AnswerHead,
  findAnswerProblems,
  findOperation,
} from '../../openapi/answerProblems.ts';

/** A status without an error, or the code of one. */
export type Expected = 200 | 204 | ErrorCode;

/** What was requested, such as `GET /inventory?limit=1`, and the response without its body. */
export interface ResponseHead extends AnswerHead {
  readonly asked: string;
}

export interface StageResponse extends ResponseHead {
  readonly bytes: Buffer;
  readonly text: string;
  /** The body, with integers past 2^53 as bigint. */
  json(): unknown;
}

/** A response is not what was expected. The message is a whole report of one line. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
  readonly status: number;
  /** The same for failures that are likely to have one cause. */
  readonly topic: string;

  /** @param came what is wrong with the response; by default, its body */
  constructor(
    head: ResponseHead | StageResponse,
    expected: string,
    came = 'text' in head ? toExcerpt(head.text) : '',
  ) {
    const requestId = head.headers.get('X-Request-Id');
    const id = requestId === null ? 'without a request id' : `request id ${requestId}`;
    const answered = `${head.status} ${came}`.trim();
    super(`${toExcerpt(head.asked)} answered ${answered} (${id}); expected ${expected}.`);
    this.status = head.status;
    this.topic = head.status >= 500 ? `${head.status}` : expected;
  }
}

/**
 * Checks what every response must have: one of the statuses, an X-Request-Id, the headers of a deprecated
 * operation, and nothing that the OpenAPI document does not describe.
 * @throws {Mismatch}
 */
export function checkResponse(
  response: ResponseHead | StageResponse,
  expected: readonly Expected[],
): void {
  const [method = '', path = ''] = response.asked.split(' ');
  const { status, headers } = response;
  const words = expected.map((one) =>
    typeof one === 'number' ? one : `${statusOfCode[one]} ${one}`,
  );
  const isExpected = (code: unknown) =>
    expected.some((one) => one === code || (typeof one === 'string' && statusOfCode[one] === code));
  if (!isExpected(status)) throw new Mismatch(response, words.join(' or '));
  const problems = findAnswerProblems(method, path, response);
  const unnamed = headers.has('X-Request-Id') ? undefined : 'The header X-Request-Id is missing.';
  const [problem = unnamed] = problems;
  if (problem !== undefined) {
    throw new Mismatch(response, `an answer as documented. ${problem.replace(/\.$/, '')}`);
  }
  // The document lets the gateway's own errors have any code.
  if ('bytes' in response && status >= 400) {
    const error = response.json() as { code: ErrorCode; status: number };
    if (!isExpected(error.code) || error.status !== status) {
      throw new Mismatch(response, words.join(' or '));
    }
  }
  const operationId = findOperation(method, path);
  const { lifecycle }: Partial<Operation> = operationId ? operations[operationId] : {};
  for (const [name, value] of Object.entries(lifecycle ? toLifecycleHeaders(lifecycle, '') : {})) {
    // Where the stage's documentation lies, to which the Link leads, is not known here.
    const end = value.replace(/^</, '');
    if (!headers.get(name)?.endsWith(end)) checkHeader(response, name, end);
  }
}

/**
 * @param words what is expected, for the report
 * @throws {Mismatch} when the header has another value, or is missing
 */
export function checkHeader(
  head: ResponseHead,
  name: string,
  expected: string | RegExp,
  words = `${expected}`,
): void {
  const value = head.headers.get(name);
  const matches = typeof expected === 'string' ? value === expected : expected.test(value ?? '');
  if (value !== null && matches) return;
  const came = value === null ? `without ${name}` : `with ${name}: ${value}`;
  throw new Mismatch(head, `${name}: ${words}`, came);
}

const MAX_CHARACTERS = 160;

/** The beginning of a text in one line, without control characters, which a terminal would obey. */
export function toExcerpt(text: string): string {
  const line = text
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}
