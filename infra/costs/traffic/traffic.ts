import type { OperationId } from '../../../shared/contract/operations.ts';
import { UsageError } from '../../cli/usage.ts';
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

/** The same mix, with so many requests in all. @throws {UsageError} where there are none to take a mix of */
export function scaleTraffic(traffic: Traffic, requests: number): Traffic {
  if (sumRequests(traffic) === 0) throw new UsageError('A traffic without requests has no mix.');
  const factor = requests / sumRequests(traffic);
  const shares = traffic.shares.map((share) => ({ ...share, requests: share.requests * factor }));
  return { ...traffic, shares };
}

export function sumRequests({ shares }: Traffic): number {
  return shares.reduce((sum, { requests }) => sum + requests, 0);
}
