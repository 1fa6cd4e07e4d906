import { setTimeout } from 'node:timers/promises';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { cacheControl } from '../../../shared/contract/headers.ts';
import { type Operation, toLifecycleHeaders } from '../../../shared/contract/operation.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import {
  type GatewayError,
  gatewayErrors,
  methodNotAllowedError,
} from '../../gateway/gatewayErrors.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';

/** Errors at a rate, delayed and lost responses, and the throttles of a stage, for testing clients. */
export interface FaultInjection {
  readonly failures?: readonly InjectedFailure[];
  readonly delayMilliseconds?: number;
  /** The share of the functions' responses that never arrive, from 0 to 1. */
  readonly lostShare?: number;
  readonly throttles?: StageSettings['throttles'];
}

export interface InjectedFailure {
  /** One of `injectedStatuses`. */
  readonly status: number;
  /** The share of all requests to an operation, from 0 to 1. */
  readonly share: number;
}

const errors: Readonly<Record<number, GatewayError>> = {
  ...Object.fromEntries(
    Object.values(gatewayErrors).map((error) => [statusOfCode[error.code], error]),
  ),
  404: { code: 'not_found', message: 'There is nothing with this id.' },
  405: methodNotAllowedError('GET, OPTIONS'),
  409: {
    code: 'insufficient_stock',
    message: 'No stock count has changed: there are too few units.',
  },
  412: {
    code: 'precondition_failed',
    message: 'The entry has changed since you read its ETag.',
    // In place of the current tag. No entry has it.
    headers: { ETag: '"injected"' },
  },
  422: {
    code: 'idempotency_key_reused',
    message: 'Another request had this Idempotency-Key.',
  },
};

/** Every status of the contract's errors. */
export const injectedStatuses: readonly number[] = Object.keys(errors).map(Number);

/** Waits, then decides at random whether a request fails. A failing request never reaches its function. */
export async function injectFault(
  { failures = [], delayMilliseconds = 0 }: FaultInjection,
  { lifecycle }: Operation,
  documentationAddress: string,
): Promise<GatewayError | undefined> {
  if (delayMilliseconds > 0) await setTimeout(delayMilliseconds);
  let left = failures.length > 0 ? Math.random() : 0;
  for (const { status, share } of failures) {
    left -= share;
    const error = errors[status];
    if (left < 0 && error) {
      const lifecycleHeaders = toLifecycleHeaders(lifecycle, documentationAddress);
      const headers = { ...error.headers, 'Cache-Control': cacheControl, ...lifecycleHeaders };
      return { ...error, headers };
    }
  }
  return undefined;
}

/**
 * Limits requests by token buckets, as API Gateway does. A bucket starts with its burst, and fills up to it at its rate:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 * @returns takes a token, and returns true if no token is left
 */
export function defineThrottling(
  throttles: FaultInjection['throttles'],
): (id: OperationId | 'other') => boolean {
  const buckets: Partial<Record<OperationId | 'other', { tokens: number; filledAt: number }>> = {};

  return function isThrottled(id) {
    if (!throttles) return false;
    const { rate, burst } = throttles[id];
    const time = performance.now();
    const { tokens, filledAt } = buckets[id] ?? { tokens: burst, filledAt: time };
    const filled = Math.min(burst, tokens + ((time - filledAt) / 1_000) * rate);
    const isEmpty = filled < 1;
    buckets[id] = { tokens: isEmpty ? filled : filled - 1, filledAt: time };
    return isEmpty;
  };
}
