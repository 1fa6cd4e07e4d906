import type { OperationId } from '../../../shared/contract/operations.ts';
import { type Answer, growsWithInventory } from './answerUnits.ts';

/** The milliseconds that Lambda bills for a call, of a function that has the memory of `stages.ts`. */
export interface BilledDuration {
  /** On a good day, usual, and on a bad one. */
  readonly low: number;
  readonly typical: number;
  readonly high: number;
}

/**
 * Assumed, since no model knows a network: the CPU that `npm run bench` measures, at the share of a
 * processor that the memory buys, and some 5 ms for each call of DynamoDB. A bill, or the platform's own
 * report lines, tells the truth.
 */
export function toBilledDuration(
  operationId: OperationId,
  answer: Answer,
  entries = 0,
): BilledDuration {
  const typical = toTypical(operationId, answer, entries);
  return { low: Math.ceil(typical / 2), typical, high: typical * 2 };
}

function toTypical(operationId: OperationId, answer: Answer, entries: number): number {
  if (growsWithInventory(operationId, answer)) return toListMilliseconds(answer, entries);
  switch (answer) {
    case '429':
      return 0;
    case '400':
    case '401':
    case '403':
      return 2;
    case '412':
    case '200 Idempotency-Key':
      return 15;
    default:
      return 10;
  }
}

/** Of 1,000 and of 100,000 entries, with 1,024 MB. */
const listMilliseconds = { plain: [25, 700], gzip: [30, 900], zstd: [26, 730] } as const;

function toListMilliseconds(answer: Answer, entries: number): number {
  const [small, large] = listMilliseconds[toBodyKind(answer)];
  return Math.ceil(small + ((large - small) * (entries - 1_000)) / 99_000);
}

/** How the body of a list's answer is sent. */
export function toBodyKind(answer: Answer): keyof typeof listMilliseconds {
  if (answer === '200 zstd') return 'zstd';
  return answer === '200 gzip' ? 'gzip' : 'plain';
}
