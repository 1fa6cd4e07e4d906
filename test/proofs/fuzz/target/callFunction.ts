import type { ServerResponse } from 'node:http';
import { invoke } from '../../../../infra/local/gateway/invoke.ts';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambdaFunction.ts';
import type { WholeAnswer } from '../../../../infra/openapi/answerProblems.ts';
import type { EventCase } from '../cases/fuzzCase.ts';
import { CollectedResponse } from './collectedResponse.ts';

/**
 * Calls a function with an event as the local gateway does, without a connection.
 * @throws what the function throws, or what is wrong with its result
 */
export async function callFunction(
  called: LambdaFunction,
  { event, withoutContext }: EventCase,
): Promise<WholeAnswer> {
  const response = new CollectedResponse();
  const handler = called.handler as (...values: unknown[]) => Promise<unknown>;
  // The context is the last that a handler is given.
  const bare = (...values: unknown[]) => handler(...values.slice(0, -1));
  const chosen = { ...called, handler: withoutContext ? bare : handler } as LambdaFunction;
  await invoke(chosen, event, response as unknown as ServerResponse);
  return response.toAnswer();
}
