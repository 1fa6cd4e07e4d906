import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Operation } from '../../../shared/contract/operation.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { findPath } from '../../../shared/contract/paths.ts';
import {
  type GatewayError,
  gatewayErrors,
  listAllowedMethods,
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  methodNotAllowedError,
} from '../../gateway/gatewayErrors.ts';
import { toProxyEvent } from '../../gateway/proxyEvent.ts';
import { buildLambdaContext, requestIds } from '../lambdaRuntime.ts';
import { respondToMalformedRequest } from './connections.ts';
import { defineThrottling, type FaultInjection, injectFault } from './faultInjection.ts';
import {
  bodyTooLarge,
  discardedResponse,
  type GatewayRequest,
  type GatewayResponse,
  preflightResponse,
  readBody,
  sendResponse,
  toErrorResponse,
  toGatewayRequest,
} from './messages.ts';

export interface LambdaFunction {
  readonly operation: Operation & { readonly operationId: OperationId };
  readonly timeoutMilliseconds: number;
  /** Gets an event, a stream if the operation is `streamed` in the contract, and a context. */
  readonly handler: (...values: never[]) => Promise<unknown>;
}

export interface Service {
  readonly functions: readonly LambdaFunction[];
  readonly documentationAddress: string;
  /** Serves the documentation. A path that it does not know is an unknown path of the stage. */
  readonly serveDocs?: (request: GatewayRequest) => Promise<GatewayResponse | undefined>;
}

/** An HTTP server that acts like a REST API of API Gateway. Requests wait until the functions have loaded. */
export function defineGateway(
  service: Promise<Service>,
  faultInjection: FaultInjection = {},
): Server {
  const respond = defineResponder(service, faultInjection);

  const server = createServer({ requireHostHeader: false }, async (incoming, response) => {
    const request = toGatewayRequest(incoming);
    const { requestId, sourceIp, method, path } = request;
    try {
      const sent = await respond(request, incoming, response);
      if (!sent) return;
      sendResponse(sent, response);
      const { statusCode: status } = sent;
      // Functions log their own requests. Pages need no line. A client's own path may have a key.
      const route = findPath(path) ?? '-';
      if (status !== 200) console.info({ requestId, sourceIp, method, route, status });
    } catch (error) {
      if (incoming.destroyed && !incoming.complete) return;
      console.error({
        requestId,
        message: 'The gateway got no response from the function.',
        cause: error instanceof Error ? error.stack : String(error),
      });
      const isTimeout = error instanceof FunctionTimeout;
      const failure = gatewayErrors[isTimeout ? 'INTEGRATION_TIMEOUT' : 'DEFAULT_5XX'];
      if (response.headersSent) response.destroy();
      else sendResponse(toErrorResponse(failure, requestId), response);
    }
  });
  // Node.js responds to an unknown Expect header with a bare 417.
  server.on('checkExpectation', (_, response) => {
    sendResponse(toErrorResponse(gatewayErrors.DEFAULT_4XX, randomUUID()), response);
  });
  return server.on('clientError', respondToMalformedRequest);
}

/** How the gateway responds to a request: by itself, or with a function. */
function defineResponder(service: Promise<Service>, faultInjection: FaultInjection) {
  const isThrottled = defineThrottling(faultInjection.throttles);

  /** @returns the gateway's own response, or nothing when a function has responded */
  return async function respond(
    request: GatewayRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<GatewayResponse | undefined> {
    const { requestId, method, path } = request;
    const { functions, documentationAddress, serveDocs } = await service;
    const refuse = (error: GatewayError) => toErrorResponse(error, requestId);
    const headerBytes = request.headerLines.flat().join('').length;
    if (headerBytes > MAX_HEADER_BYTES) return refuse(gatewayErrors.DEFAULT_4XX);
    const page = path === '' ? await serveDocs?.(request) : undefined;
    if (page) return page;
    const resource = findPath(path);
    const called = functions.find(
      ({ operation }) => operation.path === resource && operation.method === method,
    );
    if (isThrottled(called?.operation.operationId ?? 'other')) {
      return refuse(gatewayErrors.THROTTLED);
    }
    if (resource === undefined) return refuse(gatewayErrors.MISSING_AUTHENTICATION_TOKEN);
    const allow = listAllowedMethods(resource);
    if (method === 'OPTIONS') return preflightResponse(allow, requestId);
    if (!called) return refuse(methodNotAllowedError(allow));
    const event = await readEvent(request, resource, incoming);
    if ('statusCode' in event) return event;
    const fault = await injectFault(faultInjection, called.operation, documentationAddress);
    if (fault) return refuse(fault);
    const isLost = Math.random() < (faultInjection.lostShare ?? 0);
    try {
      await invoke(called, event, isLost ? discardedResponse() : response);
    } finally {
      if (isLost) {
        console.info({ requestId, message: 'This response is lost.' });
        response.destroy();
      }
    }
    return undefined;
  };
}

/** The event for a function, or the response to a request that is too large for it. */
async function readEvent(
  request: GatewayRequest,
  resource: string,
  incoming: IncomingMessage,
): Promise<ReturnType<typeof toProxyEvent> | GatewayResponse> {
  const tooLarge = toErrorResponse(gatewayErrors.REQUEST_TOO_LARGE, request.requestId);
  const declared = Number(incoming.headers['content-length'] ?? 0);
  if (declared > MAX_PAYLOAD_BYTES) return declared > MAX_BODY_BYTES ? bodyTooLarge : tooLarge;
  const body = await readBody(incoming);
  if (body === undefined) return bodyTooLarge;
  const event = toProxyEvent(request, resource, body);
  const isTooLarge = body !== null && Buffer.byteLength(JSON.stringify(event)) > MAX_PAYLOAD_BYTES;
  return isTooLarge ? tooLarge : event;
}

class FunctionTimeout extends Error {
  override readonly name = 'FunctionTimeout';
}

/**
 * Calls a function and sends its response.
 * @throws {FunctionTimeout} when it takes too long
 * @throws the function's error, or an Error when its response is invalid; not if the client has left
 */
async function invoke(
  { operation, timeoutMilliseconds, handler }: LambdaFunction,
  event: ReturnType<typeof toProxyEvent>,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const context = buildLambdaContext(operation.operationId, requestId, timeoutMilliseconds);

  async function call(): Promise<void> {
    const values = operation.streamed ? [event, response, context] : [event, context];
    const result = await handler(...(values as never[]));
    if (!operation.streamed) sendWhole(result as GatewayResponse, response);
    else if (!response.writableEnded) throw new Error('The function did not end its response.');
    else await finished(response);
  }

  let expire: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    const message = `The function did not respond within ${timeoutMilliseconds / 1000} seconds.`;
    expire = setTimeout(() => reject(new FunctionTimeout(message)), timeoutMilliseconds);
  });
  try {
    await Promise.race([requestIds.run(requestId, call), expired]);
  } catch (error) {
    if (!response.destroyed) throw error;
  } finally {
    clearTimeout(expire);
  }
}

function sendWhole({ statusCode, headers, body = '' }: GatewayResponse, response: ServerResponse) {
  if (Buffer.byteLength(body) > MAX_PAYLOAD_BYTES) {
    throw new Error('The function returned more than 6 MB.');
  }
  sendResponse({ statusCode, headers, body }, response);
}
