import middy, { type MiddlewareObj } from '@middy/core';
import type { PluginExecutionMode } from '@middy/core/executionModeStandard';
import type * as z from 'zod/mini';
import { StoreUnavailable } from '../contract/errors/errors.ts';
import type { Operation } from '../contract/operation.ts';
import type { Values } from '../contract/parameters/parameter.ts';
import type { KeyVerifier } from '../keys/keyVerifier.ts';
import { logAccess, startAccessLog } from './accessLog.ts';
import { authenticate } from './middleware/authenticate.ts';
import { bufferedResponse } from './middleware/bufferedResponse.ts';
import { corsHeaders } from './middleware/corsHeaders.ts';
import { errorResponse } from './middleware/errorResponse.ts';
import { idempotency } from './middleware/idempotency.ts';
import { jsonBody } from './middleware/jsonBody.ts';
import { lifecycleHeaders } from './middleware/lifecycleHeaders.ts';
import { parameters } from './middleware/parameters.ts';
import { preconditions } from './middleware/preconditions.ts';
import { requestContext } from './middleware/requestContext.ts';
import type { OperationMiddleware, OperationRequest } from './operationRequest.ts';
import type { Reply } from './reply.ts';

/** What a handler is given: everything is checked already. */
export interface OperationInput<O extends Operation> {
  readonly parameters: Values<O['parameters']>;
  readonly query: Partial<Values<O['query']>>;
  readonly body: O['requestBody'] extends z.ZodMiniType<infer Body> ? Body : never;
  /** The versions that the client will have updated; any, when undefined. */
  readonly ifMatch: readonly string[] | undefined;
  /** Names the request, where its client may send it again. */
  readonly idempotencyKey: string | undefined;
}

export interface HttpSettings {
  readonly verifier: KeyVerifier;
  /** Where browsers may call from: origins, or `*` for any. */
  readonly allowedOrigins: readonly string[];
  /** Where the stage's documentation lies, without a slash at the end. */
  readonly documentationAddress: string;
  /** What each request's log line says that it was served by. */
  readonly commit?: string | undefined;
}

/** Milliseconds before the function's time runs out at which a waiting handler is answered for. */
const TIMEOUT_MARGIN = 1_000;

/**
 * Makes an operation's Lambda handler of what the operation does. The order of the middleware is the
 * order of the checks: credentials and permission, path and query, media type and body, preconditions.
 * On the way out it is reversed, so that the last to touch a response are the first here.
 */
export function defineHandler<O extends Operation>(
  operation: O,
  { verifier, allowedOrigins, documentationAddress, commit }: HttpSettings,
  answer: (input: OperationInput<O>) => Promise<Reply>,
  { response, executionMode }: Sending = { response: bufferedResponse() },
) {
  const chain: (OperationMiddleware | undefined)[] = [
    requestContext(),
    corsHeaders(allowedOrigins),
    lifecycleHeaders(operation.lifecycle, documentationAddress),
    errorResponse(),
    authenticate(verifier, operation.permission),
    parameters(operation),
    operation.requestBody && jsonBody(operation.requestBody),
    operation.requestHeaders?.includes('If-Match') ? preconditions() : undefined,
    operation.requestHeaders?.includes('Idempotency-Key') ? idempotency() : undefined,
    { before: handOver },
    response,
  ];
  return middy<OperationInput<O>>(answer, {
    timeoutEarlyInMillis: TIMEOUT_MARGIN,
    timeoutEarlyResponse: () => {
      throw new StoreUnavailable(new Error('The handler did not finish in time.'));
    },
    requestStart: (request) => startAccessLog(request as OperationRequest),
    requestEnd: (request) => logAccess(operation, request as OperationRequest, commit),
    ...(executionMode && { executionMode }),
  }).use(chain.filter((middleware) => middleware !== undefined) as MiddlewareObj[]);
}

/** How a reply becomes a response, and how middy sends it. */
export interface Sending {
  readonly response: OperationMiddleware;
  readonly executionMode?: PluginExecutionMode;
}

/** Gives the handler, in the event's place, what the checks made of it. */
function handOver(request: OperationRequest): void {
  const { parameters, query, body, ifMatch, idempotencyKey } = request.internal;
  Object.assign(request, { event: { parameters, query, body, ifMatch, idempotencyKey } });
}
