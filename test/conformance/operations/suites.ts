import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { type ConformanceTarget, type Sending, send } from '../target.ts';
import type { ExampleRequest, OperationSuite } from './operationSuite.ts';

/** Each operation's suite, exported by the file of the same name. */
export const suites = Object.fromEntries(
  await Promise.all(
    operationIds.map(async (id) => [id, (await import(/* @vite-ignore */ `./${id}.ts`))[id]]),
  ),
) as Record<OperationId, OperationSuite>;

/** Sends the operation's valid request; `sending` changes the key, the path or the body, or adds headers. */
export function sendValid(
  target: ConformanceTarget,
  operationId: OperationId,
  { headers, path, ...sending }: Sending & { path?: string } = {},
): Promise<ExactResponse> {
  const { method, path: own, ...content } = suites[operationId].toValidRequest(target);
  const type: Record<string, string> =
    content.body === undefined ? {} : { 'Content-Type': 'application/json' };
  return send(target, method, path ?? own, {
    ...content,
    ...sending,
    headers: { ...type, ...content.headers, ...headers },
  });
}

/** What the request for one of the document's examples sends. */
export function toSending(
  { apiKey, readOnlyApiKey }: ConformanceTarget,
  { headers = {}, body, key }: ExampleRequest,
): Sending {
  const keys = { read: readOnlyApiKey, none: null, invalid: 'psk_not-a-key' };
  const content = body !== undefined && { body: JSON.stringify(body) };
  return { apiKey: key === undefined ? apiKey : keys[key], headers, ...content };
}
