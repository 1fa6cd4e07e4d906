import { gatewayErrors } from '../../../../infra/gateway/gatewayErrors.ts';
import { findAnswerProblems, type WholeAnswer } from '../../../../infra/openapi/answerProblems.ts';
import { type ErrorCode, statusOfCode } from '../../../../shared/contract/errorBody.ts';
import { operations } from '../../../../shared/contract/operations.ts';
import type { FuzzCase } from '../cases/fuzzCase.ts';
import type { Failure } from './failure.ts';

/** What is wrong with an answer by itself. */
export function judgeAnswer(one: FuzzCase, answer: WholeAnswer): Failure[] {
  const { number } = one;
  const { status, bytes } = answer;
  const isImpossible = one.transport === 'event' && !one.isPossible;
  if (status >= 500 && !(isImpossible && status === 500)) {
    return [{ oracle: 'status', problem: `${status} ${bytes.toString('utf8', 0, 200)}`, number }];
  }
  const problems = status >= 400 && !isHead(one) ? findErrorProblems(answer) : [];
  return [...problems, ...findDocumentProblems(one, answer)].map((problem) => ({
    oracle: 'body',
    problem: `${status}: ${problem}`,
    number,
  }));
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
    return [`no JSON: ${text.slice(0, 200)}`];
  }
}

/** Of bytes that are no HTTP nobody can say which operation they ask for. */
function findDocumentProblems(one: FuzzCase, answer: WholeAnswer): readonly string[] {
  const { operationId, method, path, query } = one.request;
  if (one.transport === 'event') {
    const { method: called, path: template } = operations[operationId];
    return findAnswerProblems(called, template.replace('{petId}', '1'), answer);
  }
  if (one.framing !== 'whole' || isHead(one) || isRefusedByGateway(answer)) return [];
  return findAnswerProblems(method, `${path}?${query}`, answer);
}

/** What the gateway refuses for its headers' size, it refuses alike wherever it was sent. */
function isRefusedByGateway({ status, bytes }: WholeAnswer): boolean {
  return status === 400 && bytes.includes(gatewayErrors.DEFAULT_4XX.message);
}

function isHead({ transport, request }: FuzzCase): boolean {
  return transport === 'socket' && request.method === 'HEAD';
}
