import middy, { type MiddlewareObj } from '@middy/core';
import type { PluginExecutionMode } from '@middy/core/executionModeStandard';
import type * as z from 'zod/mini';
import type { Operation } from '../contract/operation.ts';
import type { Values } from '../contract/parameters.ts';
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
import type { OperationMiddleware, OperationRequest, RequestState } from './operationRequest.ts';
import type { Reply } from './reply.ts';
import { endTime, inTime, startTime, withDeadline } from './requestTime.ts';
import { isWarmUp } from './warmUp.ts';

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
    withDeadline(authenticate(verifier, operation.permission)),
    parameters(operation),
    operation.requestBody && jsonBody(operation.requestBody),
    operation.requestHeaders?.includes('If-Match') ? preconditions() : undefined,
    operation.requestHeaders?.includes('Idempotency-Key') ? idempotency() : undefined,
    { before: handOver },
    withDeadline(response),
  ];
  const answerInTime = ({ input, internal }: Handed<O>) => inTime(internal, answer(input));
  return middy<Handed<O>>(answerInTime, {
    // The request's own deadline covers the handler too.
    timeoutEarlyInMillis: 0,
    requestStart: (request) => startRequest(request as OperationRequest),
    requestEnd: (request) => endRequest(operation, request as OperationRequest, commit),
    ...(executionMode && { executionMode }),
  }).use(chain.filter((middleware) => middleware !== undefined) as MiddlewareObj[]);
}

/** How a reply becomes a response, and how middy sends it. */
export interface Sending {
  readonly response: OperationMiddleware;
  readonly executionMode?: PluginExecutionMode;
}

/** What middy hands to the handler in the event's place. */
interface Handed<O extends Operation> {
  readonly input: OperationInput<O>;
  readonly internal: RequestState;
}

/** Gives the handler what the checks made of the event. */
function handOver(request: OperationRequest): void {
  const { internal } = request;
  const { parameters, query, body, ifMatch, idempotencyKey } = internal;
  const input = { parameters, query, body, ifMatch, idempotencyKey };
  Object.assign(request, { event: { input, internal } });
}

/** middy's first hook, so that clock, meter and deadline run through every later one. */
function startRequest(request: OperationRequest): void {
  // What calls the function without them is answered too.
  request.event ??= {} as never;
  request.context ??= {} as never;
  request.internal.isWarmUp = isWarmUp(request.event);
  startAccessLog(request);
  startTime(request);
}

function endRequest(
  operation: Operation,
  request: OperationRequest,
  commit: string | undefined,
): void {
  endTime(request);
  if (!request.internal.isWarmUp) logAccess(operation, request, commit);
}
