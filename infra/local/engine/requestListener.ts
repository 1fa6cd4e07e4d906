import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { foreignHostRefusal, isLoopbackHost } from './loopback.ts';
import { type TransactWrite, toRequestError } from './transactions.ts';

export interface EngineListener {
  readonly listener: RequestListener;
  /** Resolves when no action is under way. */
  isIdle(): Promise<void>;
}

/**
 * Adds TransactWriteItems to what dynalite answers. No web page can read an answer: there are no CORS headers, and a
 * Host header has to name the loopback.
 * @param answer dynalite's own listener
 */
export function defineEngineListener(
  answer: RequestListener,
  transactWrite: TransactWrite,
): EngineListener {
  const { track, isIdle } = defineTracker();

  function listener(request: IncomingMessage, response: ServerResponse): void {
    if (!isLoopbackHost(request.headers.host)) {
      response.writeHead(403, { 'Content-Type': 'text/plain' }).end(`${foreignHostRefusal}\n`);
      return;
    }
    // dynalite sends CORS headers to requests that have an origin.
    delete request.headers.origin;
    track(request, response);
    if (request.headers['x-amz-target'] === 'DynamoDB_20120810.TransactWriteItems') {
      void answerTransactWrite(transactWrite, request, response);
    } else {
      answer(request, response);
    }
    surviveHalfRequest(request);
  }

  return { listener, isIdle };
}

async function answerTransactWrite(
  transactWrite: TransactWrite,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let statusCode = 200;
  let body: object;
  try {
    body = await transactWrite(JSON.parse(await text(request)));
  } catch (error) {
    ({ statusCode, body } = toRequestError(error));
  }
  response.writeHead(statusCode, {
    'Content-Type': 'application/x-amz-json-1.0',
    'x-amzn-RequestId': randomUUID(),
  });
  response.end(JSON.stringify(body));
}

/**
 * dynalite's own close waits for connections, and a connection may be gone before its action is done:
 * an action that then finds the store closed ends the process. This waits for the actions.
 */
function defineTracker(): { track: RequestListener; isIdle(): Promise<void> } {
  let underWay = 0;
  let report = () => {};
  const finish = () => {
    underWay -= 1;
    if (underWay === 0) report();
  };
  return {
    // An action's last step, and nothing else, ends its response.
    track(request, response) {
      const end = response.end;
      request.once('end', () => {
        underWay += 1;
        response.end = ((...args: Parameters<typeof end>) => {
          finish();
          return end.apply(response, args);
        }) as typeof end;
      });
    },
    isIdle: () =>
      new Promise((resolve) => {
        report = resolve;
        if (underWay === 0) resolve();
      }),
  };
}

/** dynalite throws, outside anyone's reach, when a client leaves in the middle of a request. */
function surviveHalfRequest(request: IncomingMessage): void {
  request.removeAllListeners('error');
  request.on('error', () => {});
}
