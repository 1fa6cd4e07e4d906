import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AccessLogLine } from '../../gateway/accessLogFormat.ts';
import {
  fixedAnswerTypes,
  type GatewayError,
  gatewayErrors,
  toAllow,
  toMethodNotAllowedError,
} from '../../gateway/gatewayErrors.ts';
import { MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES } from '../../gateway/gatewayLimits.ts';
import type { LambdaFunction } from '../lambda/lambdaFunction.ts';
import { answerMalformedRequest, answerRareRequests, hasUnmetExpectation } from './connections.ts';
import { type FaultInjection, injectFault, noFaults } from './faultInjection.ts';
import { FunctionTimeout, invoke } from './invoke.ts';
import {
  type GatewayAnswer,
  type GatewayRequest,
  readBody,
  sendAnswer,
  toErrorAnswer,
  toGatewayRequest,
  toPreflightAnswer,
} from './messages.ts';
import { defineRoutes, type FindRoute, toProxyEvent } from './proxyEvent.ts';

/** What the gateway answers for. */
export interface Service {
  readonly functions: readonly LambdaFunction[];
  readonly documentationAddress: string;
  /** Serves the documentation beside the stage; a path that it does not know is an unknown path. */
  readonly serveDocs?: (request: GatewayRequest) => Promise<GatewayAnswer | undefined>;
}

/** What a request is answered by. */
interface Answering extends Omit<Service, 'functions'> {
  readonly findRoute: FindRoute;
  readonly faultInjection: FaultInjection;
}

/** What the access log says of an answer that no function gave, beside the answer itself. */
interface Logged {
  /** The path of the contract, such as `/pets/{petId}`; none at an unknown path. */
  readonly route?: string;
  /** API Gateway's response type; none of its fixed answers has one. */
  readonly gatewayError?: keyof typeof gatewayErrors;
}

/** An answer that no function gave; `logged` where it has a line in API Gateway's access log. */
interface OwnAnswer extends GatewayAnswer {
  readonly logged?: Logged;
}

/**
 * An HTTP server that does for the functions what a REST API of API Gateway does, without its
 * throttling. Requests wait until the functions are there.
 * @param logAccess takes a line for each request that reaches no function: functions log theirs by themselves
 */
export function defineGateway(
  service: Promise<Service>,
  faultInjection: FaultInjection = noFaults,
  logAccess: (line: AccessLogLine) => void = writeAccessLine,
): Server {
  const answering = service.then(({ functions, ...others }) => ({
    ...others,
    findRoute: defineRoutes(functions),
    faultInjection,
  }));
  const server = createServer({ requireHostHeader: false }, async (incoming, response) => {
    const request = toGatewayRequest(incoming);
    const arrived = performance.now();
    try {
      const answer = await answerRequest(await answering, request, incoming, response);
      if (!answer) return;
      sendAnswer(answer, response);
      const { logged } = answer;
      if (logged) logAccess(toAccessLine(request, answer, logged, performance.now() - arrived));
    } catch (error) {
      if (incoming.destroyed && !incoming.complete) return;
      console.error({
        requestId: request.requestId,
        message: 'The gateway got no answer from the function.',
        cause: error instanceof Error ? error.stack : String(error),
      });
      const isTimeout = error instanceof FunctionTimeout;
      const failure = gatewayErrors[isTimeout ? 'INTEGRATION_TIMEOUT' : 'DEFAULT_5XX'];
      if (response.headersSent) response.destroy();
      else sendAnswer(toErrorAnswer(failure, request.requestId), response);
    }
  });
  answerRareRequests(server);
  return server.on('clientError', answerMalformedRequest);
}

/** @returns the gateway's own answer, or nothing when a function answered */
async function answerRequest(
  { findRoute, faultInjection, documentationAddress, serveDocs }: Answering,
  request: GatewayRequest,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<OwnAnswer | undefined> {
  const { requestId, method, path } = request;
  const answerFixed = (error: GatewayError, logged: Logged) => ({
    ...toErrorAnswer(error, requestId),
    logged,
  });
  const refuse = (gatewayError: keyof typeof gatewayErrors, at: Logged = {}) =>
    answerFixed(gatewayErrors[gatewayError], { ...at, gatewayError });
  const headerBytes = request.headerLines.flat().join('').length;
  if (headerBytes > MAX_HEADER_BYTES || hasUnmetExpectation(incoming)) {
    return refuse('DEFAULT_4XX');
  }
  const page = path === undefined ? await serveDocs?.(request) : undefined;
  if (page) return page;
  const route = path === undefined ? undefined : findRoute(path);
  const refuseFixed = (error: GatewayError, at: Logged) =>
    hasFixedAnswer(incoming) ? answerFixed(error, at) : refuse('UNSUPPORTED_MEDIA_TYPE', at);
  if (!route) return refuseFixed(gatewayErrors.MISSING_AUTHENTICATION_TOKEN, {});
  const at = { route: route.path };
  const allow = toAllow([...route.functions.keys()]);
  if (method === 'OPTIONS') return { ...toPreflightAnswer(allow, requestId), logged: at };
  const called = route.functions.get(method);
  if (!called) return refuseFixed(toMethodNotAllowedError(allow), at);
  const body = await readBody(incoming);
  if (body === undefined) return refuse('REQUEST_TOO_LARGE', at);
  const event = toProxyEvent(request, called.operation.path, route.pathParameters, body);
  if (body !== null && Buffer.byteLength(JSON.stringify(event)) > MAX_PAYLOAD_BYTES) {
    return refuse('REQUEST_TOO_LARGE', at);
  }
  const { operation } = called;
  const fault = await injectFault(faultInjection, { operation, allow, documentationAddress });
  if (fault) return answerFixed(fault, at);
  await invoke(called, event, response);
  return undefined;
}

/** A body without a type counts as JSON. */
function hasFixedAnswer({ headers }: IncomingMessage): boolean {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() || 'application/json';
  return fixedAnswerTypes.some((one) => one === type);
}

/** @param milliseconds how long the answer took */
function toAccessLine(
  { requestId, sourceIp, method, fullPath }: GatewayRequest,
  { statusCode, body }: GatewayAnswer,
  { route, gatewayError }: Logged,
  milliseconds: number,
): AccessLogLine {
  return {
    requestId,
    time: String(Math.round(Date.now() - milliseconds)),
    sourceIp,
    method,
    path: fullPath,
    route: route ?? '-',
    status: String(statusCode),
    bytes: Buffer.byteLength(body),
    latency: String(Math.round(milliseconds)),
    functionLatency: '-',
    functionStatus: '-',
    functionError: '-',
    functionRequestId: '-',
    gatewayError: gatewayError ?? '-',
    traceId: '-',
  };
}

/** To standard error, where the functions' logs go. */
function writeAccessLine(line: AccessLogLine): void {
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
