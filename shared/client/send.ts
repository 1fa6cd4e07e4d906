import type { OperationId } from '../contract/operations.ts';
import type { Call } from './call.ts';
import { type OpenAnswer, openAnswer, type PetstoreRequest, readText } from './exchange.ts';
import { parseExactJson } from './json.ts';
import { PetstoreError, toAnswerDetails } from './petstoreError.ts';
import { withRetries } from './retries.ts';

/** An answer that came whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; undefined where there is none. */
  readonly document: unknown;
}

/**
 * Sends a request, again where that is safe and of use, and reads its answer.
 * @param toValue reads the answer; whatever it throws means that the answer is not as it should be
 */
export function send<Id extends OperationId, Value>(
  call: Call,
  request: PetstoreRequest<Id>,
  toValue: (answer: Answer) => Value,
): Promise<Value> {
  return withRetries(call, request.isRepeatable, async () => {
    const answer = await openAnswer(call, request);
    const { status, headers } = answer.response;
    const text = await readText(answer);
    try {
      return toValue({ status, headers, document: text === '' ? undefined : parseExactJson(text) });
    } catch (cause) {
      const isCutOff = request.answersList && /^\s*\[/.test(text) && !/\]\s*$/.test(text);
      throw isCutOff ? incompleteListError(answer) : invalidAnswerError(answer, cause);
    }
  });
}

/** A list that ends before its closing bracket. */
export function incompleteListError({ response: { headers, status } }: OpenAnswer): PetstoreError {
  return new PetstoreError(
    'incomplete_list',
    'The list broke off before its end.',
    toAnswerDetails(headers, status),
  );
}

/** An answer that is no such thing as the service says. */
export function invalidAnswerError(
  { request, response: { headers, status } }: OpenAnswer,
  cause: unknown,
): PetstoreError {
  return new PetstoreError(
    'invalid_answer',
    `The answer is not one that ${request.operationId} gives.`,
    { ...toAnswerDetails(headers, status), cause },
  );
}
