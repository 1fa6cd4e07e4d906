import type { OperationId } from '../../../shared/contract/operations.ts';
import type { Answer } from '../units/answers.ts';

/** How many requests of one month get one answer. */
export interface TrafficShare {
  readonly operationId: OperationId;
  readonly answer: Answer;
  readonly requests: number;
}

/** The requests of a month. */
export interface Traffic {
  /** The length of the inventory. */
  readonly entries: number;
  readonly shares: readonly TrafficShare[];
}

export function sumRequests({ shares }: Traffic): number {
  return shares.reduce((sum, { requests }) => sum + requests, 0);
}
