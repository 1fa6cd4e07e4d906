import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

interface EngineResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const throttled = 'The level of configured provisioned throughput for the table was exceeded.';
const denied = 'User: arn:aws:sts::123456789012:assumed-role/secret is not authorized to perform';
const expired = 'The security token included in the request is expired';
const conflict = 'Transaction is ongoing for the item';
const absent = 'Requested resource not found: Table: petstore-secret not found';
const page = '<html><body>Please sign in to this network.</body></html>';

type Refusal = (response: ServerResponse) => void;

function refuse(status: number, type: string, message: string, more: object = {}): Refusal {
  const error = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more };
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(error));
  };
}

/** The refusal of a transaction, with a reason for each of its items. */
export function cancel(...CancellationReasons: readonly object[]): Refusal {
  const message = 'Transaction cancelled, please refer cancellation reasons for specific reasons';
  return refuse(400, 'TransactionCanceledException', message, { CancellationReasons });
}

function sendPage(status: number): Refusal {
  return (response) => void response.writeHead(status, { 'content-type': 'text/html' }).end(page);
}

const none = { Code: 'None' };

/** Faults of a call that never reaches the tables, so that it has no effect. */
export const refusals = {
  throughputExceeded: refuse(400, 'ProvisionedThroughputExceededException', throttled),
  throttled: refuse(400, 'ThrottlingException', 'Rate of requests exceeds the allowed throughput.'),
  requestLimit: refuse(400, 'RequestLimitExceeded', 'Throughput exceeds the current limit.'),
  internalServerError: refuse(500, 'InternalServerError', 'Could not process the request.'),
  unavailable: refuse(503, 'ServiceUnavailable', 'Service is unavailable, please retry'),
  accessDenied: refuse(400, 'AccessDeniedException', denied),
  expiredToken: refuse(400, 'ExpiredTokenException', expired),
  resourceNotFound: refuse(400, 'ResourceNotFoundException', absent),
  transactionConflict: refuse(400, 'TransactionConflictException', conflict),
  transactionInProgress: refuse(400, 'TransactionInProgressException', conflict),
  transactionCanceled: cancel(none, { Code: 'TransactionConflict' }),
  transactionThrottled: cancel(none, { Code: 'ThrottlingError' }),
  // A proxy before DynamoDB can respond in its place.
  htmlError: sendPage(502),
  gatewayTimeout: sendPage(504),
  hang() {},
  reset: (response) => response.socket?.resetAndDestroy(),
} as const satisfies Record<string, Refusal>;

/** Milliseconds between two bytes of a trickling response. */
const TRICKLE = 500;
/** Milliseconds of a delay that is within the service's timeout. */
const LATENCY = 1_000;

/** Faults of a response on its way, after its call has taken effect. */
export const manglings = {
  late: (response, original) => void setTimeout(() => sendWhole(response, original), LATENCY),
  lostResponse: refusals.reset,
  lostInError: (response) => void response.writeHead(500).end('{}'),
  lostInSilence() {},
  /** The head and half of the body, then the connection breaks. */
  brokenBody: (response, original) => sendHalf(response, original, () => response.destroy()),
  /** The head and half of the body, then nothing. */
  stalledBody: (response, original) => sendHalf(response, original, () => {}),
  /** Half of the body, with a length that matches it. */
  truncated: (response, original) => sendWhole(response, original, toHalf(original)),
  emptied: (response, original) => sendWhole(response, original, Buffer.alloc(0)),
  htmlPage: sendPage(200),
  notHttp: (response) => response.socket?.end('\u0000\u0001 these bytes are not HTTP\r\n\r\n'),
  /** One byte at a time, so that the connection is never silent for long. */
  trickle(response, { status, headers, body }) {
    response.writeHead(status, headers).flushHeaders();
    let sent = 0;
    const timer = setInterval(() => {
      if (sent === body.length) response.end();
      else response.write(body.subarray(sent, ++sent));
    }, TRICKLE);
    response.once('close', () => clearInterval(timer));
  },
  /** The whole response, then the connection breaks. */
  resetAfterwards(response, original) {
    response.once('finish', () => setImmediate(() => response.socket?.resetAndDestroy()));
    sendWhole(response, original);
  },
} as const satisfies Record<string, (response: ServerResponse, original: EngineResponse) => void>;

export type Fault = keyof typeof refusals | keyof typeof manglings;

function sendWhole(
  response: ServerResponse,
  { status, headers: { 'transfer-encoding': _, ...headers }, body }: EngineResponse,
  sent: Buffer = body,
): void {
  response.writeHead(status, { ...headers, 'content-length': `${sent.length}` }).end(sent);
}

function sendHalf(response: ServerResponse, original: EngineResponse, done: () => void): void {
  response.writeHead(original.status, original.headers).write(toHalf(original), done);
}

function toHalf({ body }: EngineResponse): Buffer {
  return body.subarray(0, Math.ceil(body.length / 2));
}
