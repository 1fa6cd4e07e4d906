import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { type ConformanceTarget, type Sending, send } from '../target.ts';
import type { OperationSuite } from './operationSuite.ts';

/** Each operation's suite, exported by the file of the same name. */
export const suites = Object.fromEntries(
  await Promise.all(
    operationIds.map(async (id) => [id, (await import(/* @vite-ignore */ `./${id}.ts`))[id]]),
  ),
) as Record<OperationId, OperationSuite>;

/** Sends the operation's valid request; `sending` changes the key, adds headers or replaces the body. */
export function sendValid(
  target: ConformanceTarget,
  operationId: OperationId,
  { headers, ...sending }: Sending = {},
): Promise<ExactResponse> {
  const { method, path, ...content } = suites[operationId].toValidRequest(target);
  const type: Record<string, string> =
    content.body === undefined ? {} : { 'Content-Type': 'application/json' };
  return send(target, method, path, { ...content, ...sending, headers: { ...type, ...headers } });
}
