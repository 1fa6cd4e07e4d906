import type { PluginExecutionMode } from '@middy/core/executionModeStandard';
import { logError } from '../runtime/logger.ts';
import type { OperationRequest } from './operationRequest.ts';
import { MARGIN } from './requestTime.ts';

/** The part of Lambda's response stream that is used here. It wraps the request to the Runtime API. */
export interface ResponseStream {
  write(chunk: Uint8Array | string): boolean;
  end(): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
}

/**
 * Runs an operation with a streamed response. Middy's own mode destroys the response stream when the body fails, which
 * ends the runtime's process. So this writes, waits and throws. The runtime then reports the error to Lambda, and the
 * connection of the client breaks.
 */
export const streamedExecution = (({ middyRequest, runRequest }, ...steps) => {
  const { requestStart, requestEnd } = steps.at(-1) as RequestHooks;
  return awslambda.streamifyResponse(async (event, responseStream, context) => {
    const request = middyRequest(event, context);
    requestStart(request);
    try {
      await runRequest(request, ...steps);
      await sendResponse(request, responseStream);
    } finally {
      requestEnd(request);
    }
  });
}) satisfies ExecutionMode as unknown as PluginExecutionMode;

/** Middy has no types for modes. The steps are its lists of middleware and the handler, and the last has its hooks. */
type ExecutionMode = (
  core: {
    middyRequest(event: unknown, context: unknown): OperationRequest;
    runRequest(request: OperationRequest, ...steps: readonly unknown[]): Promise<unknown>;
  },
  ...steps: readonly unknown[]
) => unknown;

type RequestHooks = Record<'requestStart' | 'requestEnd', (request: OperationRequest) => void>;

/** https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html */
declare const awslambda: {
  streamifyResponse(
    handler: (event: unknown, responseStream: ResponseStream, context: unknown) => Promise<void>,
  ): unknown;
  HttpResponseStream: { from(stream: ResponseStream, prelude: object): ResponseStream };
};

/** Milliseconds that a client may take for a slice, and the slice's bytes. A slower client occupies a function too long. */
export const SLICE_TIMEOUT = 10_000;
export const SLICE_BYTES = 65_536;

/**
 * Sends the response. If the client takes nothing for too long, the body ends early: that is not an error of the
 * function, and the client sees that the list is incomplete.
 * @throws what the body throws
 */
async function sendResponse(request: OperationRequest, to: ResponseStream): Promise<void> {
  const { response, internal } = request;
  // An event that is not a request gets no response.
  if (!response) return to.end();
  const { body, ...prelude } = response;
  const stream = awslambda.HttpResponseStream.from(to, prelude);
  // The first write sends status and headers, even without a body.
  stream.write('');
  internal.isBroken = true;
  try {
    for await (const chunk of typeof body === 'string' ? [body] : body) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
        if (stream.write(bytes.subarray(at, at + SLICE_BYTES))) continue;
        if (!(await awaitEvent(stream, 'drain', computeTimeLeft(request)))) return stream.end();
      }
    }
  } catch (error) {
    logError({ requestId: internal.requestId }, error);
    throw error;
  }
  internal.isBroken = false;
  stream.end();
  await awaitEvent(stream, 'finish', computeTimeLeft(request));
}

/** Milliseconds for the next slice. At its timeout, Lambda would count an error. */
function computeTimeLeft({ context }: OperationRequest): number {
  const left = context.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
  return Math.max(0, Math.min(SLICE_TIMEOUT, left - MARGIN));
}

/** @returns whether the event came: not if the time passed or the connection closed */
function awaitEvent(stream: ResponseStream, event: string, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const come = () => settle(true);
    const miss = () => settle(false);
    const timer = setTimeout(miss, milliseconds);
    stream.on(event, come);
    stream.on('close', miss);
    function settle(hasCome: boolean): void {
      clearTimeout(timer);
      stream.off(event, come);
      stream.off('close', miss);
      resolve(hasCome);
    }
  });
}
