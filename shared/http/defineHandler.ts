import middy, { type MiddlewareObj } from '@middy/core';
import { executionModeStandard } from '@middy/core/executionModeStandard';
import { executionModeStreamifyResponse } from '@middy/core/executionModeStreamifyResponse';
import type * as z from 'zod/mini';
import { StoreUnavailable } from '../contract/errors.ts';
import type { Operation } from '../contract/operation.ts';
import type { KeyVerifier } from '../keys/keyVerifier.ts';
import { logAccess, startAccessLog } from './accessLog.ts';
import { authenticate } from './middleware/authenticate.ts';
import { corsHeaders } from './middleware/corsHeaders.ts';
import { errorResponse } from './middleware/errorResponse.ts';
import { jsonBody } from './middleware/jsonBody.ts';
import { lifecycleHeaders } from './middleware/lifecycleHeaders.ts';
import { parameters } from './middleware/parameters.ts';
import { preconditions } from './middleware/preconditions.ts';
import { requestContext } from './middleware/requestContext.ts';
import type { OperationMiddleware, OperationRequest } from './operationRequest.ts';
import { type Reply, toResponse } from './toResponse.ts';

/** What a handler is given: everything is checked already. */
export interface OperationInput<O extends Operation> {
  readonly parameters: O['parameters'] extends z.core.$ZodType<infer Output> ? Output : never;
  readonly body: O['requestBody'] extends z.core.$ZodType<infer Output> ? Output : never;
  /** The versions that the client will have updated; any, when undefined. */
  readonly ifMatch: readonly string[] | undefined;
}

export interface HttpSettings {
  readonly verifier: KeyVerifier;
  /** Where browsers may call from: origins, or `*` for any. */
  readonly allowedOrigins: readonly string[];
}

/** Milliseconds before the function's time runs out at which a waiting handler is answered for. */
const TIMEOUT_MARGIN = 1_000;

/**
 * Makes an operation's Lambda handler of what the operation does. The order of the middleware is the
 * order of the checks: credentials and permission, path, media type and body, preconditions. On the
 * way out it is reversed, so that the last to touch a response are the first here.
 */
export function defineHandler<O extends Operation>(
  operation: O,
  { verifier, allowedOrigins }: HttpSettings,
  answer: (input: OperationInput<O>) => Promise<Reply>,
) {
  const chain: (OperationMiddleware | undefined)[] = [
    requestContext(),
    corsHeaders(allowedOrigins),
    lifecycleHeaders(operation.lifecycle),
    errorResponse(),
    authenticate(verifier, operation.permission),
    operation.parameters && parameters(operation.parameters),
    operation.requestBody && jsonBody(operation.requestBody),
    takesIfMatch(operation) ? preconditions() : undefined,
    { before: handOver },
  ];
  return middy(async (input: OperationInput<O>) => toResponse(await answer(input)), {
    executionMode: operation.streamed ? executionModeStreamifyResponse : executionModeStandard,
    timeoutEarlyInMillis: TIMEOUT_MARGIN,
    timeoutEarlyResponse: () => {
      throw new StoreUnavailable(new Error('The handler did not finish in time.'));
    },
    requestStart: (request) => startAccessLog(request as OperationRequest),
    requestEnd: (request) => logAccess(operation, request as OperationRequest),
  }).use(chain.filter((middleware) => middleware !== undefined) as MiddlewareObj[]);
}

function takesIfMatch({ errors }: Operation): boolean {
  return errors.includes('precondition_failed');
}

/** Gives the handler, in the event's place, what the checks made of it. */
function handOver(request: OperationRequest): void {
  const { parameters, body, ifMatch } = request.internal;
  Object.assign(request, { event: { parameters, body, ifMatch } });
}
