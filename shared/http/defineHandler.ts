import middy, { type MiddlewareObj } from '@middy/core';
import type { PluginExecutionMode } from '@middy/core/executionModeStandard';
import type { Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import type { Operation } from '../contract/operation.ts';
import type { Values } from '../contract/parameters.ts';
import { meterRequest } from '../runtime/requestUnits.ts';
import type { Service } from '../runtime/service.ts';
import { logAccess } from './accessLog.ts';
import { authenticate } from './middleware/authenticate.ts';
import { bufferedResponse } from './middleware/bufferedResponse.ts';
import { errorResponse } from './middleware/errorResponse.ts';
import { jsonBody } from './middleware/jsonBody.ts';
import { parameters } from './middleware/parameters.ts';
import { preconditions } from './middleware/preconditions.ts';
import { requestContext } from './middleware/requestContext.ts';
import { responseHeaders } from './middleware/responseHeaders.ts';
import { streamedResponse } from './middleware/streamedResponse.ts';
import type {
  OperationMiddleware,
  OperationRequest,
  Reply,
  RequestState,
} from './operationRequest.ts';
import { inTime, startTime } from './requestTime.ts';
import { streamedExecution } from './streamedExecution.ts';

/** A handler's input, already checked. */
export interface OperationInput<O extends Operation>
  extends Readonly<Pick<RequestState, 'ifMatch'>> {
  readonly parameters: Values<O['parameters']>;
  readonly query: Partial<Values<O['query']>>;
  /** An operation that reads one requires it. */
  readonly idempotencyKey: 'Idempotency-Key' extends NonNullable<O['requestHeaders']>[number]
    ? string
    : undefined;
  readonly body: O['requestBody'] extends z.ZodMiniType<infer Body> ? Body : never;
}

export type HttpSettings = Omit<Service, 'client'>;

/**
 * Makes an operation's Lambda handler. The order of the middleware is the order of the checks: credentials and
 * permission, path and query, media type and body, preconditions. For responses the order is reversed, so the first
 * middleware here handles a response last.
 */
export function defineHandler<O extends Operation>(
  operation: O,
  settings: HttpSettings,
  operate: (input: OperationInput<O>) => Promise<Reply>,
  { response, executionMode }: Sending = { response: bufferedResponse(operation) },
) {
  const chain: (OperationMiddleware | undefined)[] = [
    responseHeaders(operation, settings),
    requestContext(),
    errorResponse(),
    authenticate(settings.verifier, operation.permission),
    parameters(operation),
    operation.requestBody && jsonBody(operation.requestBody),
    preconditions(operation),
    { before: passInput },
    response,
  ];
  type Checked = Context & { readonly input: RequestState & OperationInput<O> };
  return middy((_event: unknown, { input }: Checked) => inTime(input, operate(input)), {
    // The request's own deadline covers the handler too.
    timeoutEarlyInMillis: 0,
    requestStart: (request) => startRequest(request as OperationRequest),
    requestEnd: (request) => endRequest(operation, request as OperationRequest),
    ...(executionMode && { executionMode }),
  }).use(chain.filter((middleware) => middleware !== undefined) as MiddlewareObj[]);
}

/** As `defineHandler`, for an operation with a streamed response. Only its function bundles the code for that. */
export function defineStreamedHandler<O extends Operation & { readonly streamed: true }>(
  operation: O,
  settings: HttpSettings,
  operate: (input: OperationInput<O>) => Promise<Reply>,
) {
  return defineHandler(operation, settings, operate, {
    response: streamedResponse(operation),
    executionMode: streamedExecution,
  });
}

/** The middleware that makes the response, and how middy sends it. */
interface Sending {
  readonly response: OperationMiddleware;
  readonly executionMode?: PluginExecutionMode;
}

/** Passes the checked input to the handler. */
function passInput({ context, internal }: OperationRequest): void {
  Object.assign(context, { input: internal });
}

/** middy's first hook, so that clock, meter and deadline cover all later hooks. */
function startRequest(request: OperationRequest): void {
  // A call without one gets a response too.
  request.context ??= {} as never;
  request.internal.startedAt = Date.now();
  request.internal.units = meterRequest();
  startTime(request);
}

function endRequest(operation: Operation, request: OperationRequest): void {
  const { timer, isRequest, isWarmUp } = request.internal;
  clearTimeout(timer);
  if (isRequest && !isWarmUp) logAccess(operation, request);
}
