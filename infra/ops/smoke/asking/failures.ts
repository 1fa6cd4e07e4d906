import type { AnswerHead } from '../../../openapi/answerProblems.ts';

/** What was asked for, such as `GET /inventory?limit=1`, and how the answer begins. */
export interface AskedHead extends AnswerHead {
  readonly asked: string;
  /** The body, where it is at hand. */
  readonly text?: string;
}

/** An answer is not what was expected. The message is a whole report of one line. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
  readonly status: number;
  /** The same for failures that one fault is likely to be behind. */
  readonly topic: string;

  /** @param came what is wrong of the answer, in place of its body */
  constructor(head: AskedHead, expected: string, came = toExcerpt(head.text), topic = expected) {
    const requestId = head.headers.get('X-Request-Id');
    const name = requestId === null ? 'without a request id' : `request id ${requestId}`;
    const what = came === '' ? '' : ` ${came}`;
    super(
      `${toExcerpt(head.asked)} answered ${head.status}${what} (${name}); expected ${expected}.`,
    );
    this.status = head.status;
    this.topic = topic;
  }
}

/** No answer came, or not its end: the target is slow, silent or out of reach. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** The run has used up its time or its requests. */
export class RunOver extends Error {
  override readonly name = 'RunOver';
}

const MOST_CHARACTERS = 160;

/** The begin of a text in one line, without what a terminal would take for a command. */
export function toExcerpt(text = ''): string {
  const line = text
    .slice(0, 4 * MOST_CHARACTERS)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}
