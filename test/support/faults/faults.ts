import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type MangledFault, type Mangling, manglings } from './manglings.ts';

const throttled = 'The level of configured provisioned throughput for the table was exceeded.';
const denied = 'User: arn:aws:sts::123456789012:assumed-role/secret is not authorized to perform';
const expired = 'The security token included in the request is expired';
const conflict = 'Transaction is ongoing for the item';
const absent = 'Requested resource not found: Table: petstore-secret not found';

/** How DynamoDB can refuse a call, or fail with it. */
const answers = {
  throughputExceeded: [400, 'ProvisionedThroughputExceededException', throttled],
  throttled: [400, 'ThrottlingException', 'Rate of requests exceeds the allowed throughput.'],
  requestLimit: [400, 'RequestLimitExceeded', 'Throughput exceeds the current throughput limit.'],
  internalServerError: [500, 'InternalServerError', 'Could not process the request.'],
  unavailable: [503, 'ServiceUnavailable', 'Service is unavailable, please retry'],
  accessDenied: [400, 'AccessDeniedException', denied],
  expiredToken: [400, 'ExpiredTokenException', expired],
  resourceNotFound: [400, 'ResourceNotFoundException', absent],
  transactionConflict: [400, 'TransactionConflictException', conflict],
  transactionInProgress: [400, 'TransactionInProgressException', conflict],
} as const satisfies Record<string, readonly [status: number, type: string, message: string]>;

/** Why DynamoDB can cancel a transaction of two items. */
const cancellations = {
  transactionCanceled: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  transactionThrottled: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
  transactionOverTable: [{ Code: 'None' }, { Code: 'ProvisionedThroughputExceeded' }],
  transactionInvalid: [{ Code: 'None' }, { Code: 'ValidationError' }],
  /** The row of a request that was answered, by a version of 01 02 03 04 05. */
  transactionRepeated: [
    { Code: 'ConditionalCheckFailed', Item: { s: { S: 'a' }, v: { B: 'AQIDBAU=' } } },
    { Code: 'TransactionConflict' },
  ],
} as const;

/** What stands before DynamoDB can answer in its place, in HTML. */
const pages = { htmlError: 502, gatewayTimeout: 504 } as const;

/** A call that never reaches the tables, so that it has no effect. */
export type RefusingFault =
  | keyof typeof answers
  | keyof typeof cancellations
  | keyof typeof pages
  | 'hang'
  | 'reset';

/** A `MangledFault` is a call that takes effect, and whose answer then goes wrong. */
export type Fault = RefusingFault | MangledFault;

/** What the engine answered. */
export interface EngineAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export function toMangling(fault: Fault): Mangling | undefined {
  return (manglings as Partial<Record<Fault, Mangling>>)[fault];
}

/** Answers in the engine's place as the fault says, or does not answer. */
export function giveFault(fault: RefusingFault, response: ServerResponse): void {
  if (fault === 'hang') return;
  if (fault === 'reset') {
    response.socket?.resetAndDestroy();
  } else if (fault === 'htmlError' || fault === 'gatewayTimeout') {
    response.writeHead(pages[fault], { 'content-type': 'text/html' });
    response.end('<html><body>Bad Gateway</body></html>');
  } else if (fault in cancellations) {
    const CancellationReasons = cancellations[fault as keyof typeof cancellations];
    const message = 'Transaction cancelled, please refer cancellation reasons for specific reasons';
    refuse(response, 400, 'TransactionCanceledException', { message, CancellationReasons });
  } else {
    const [status, type, message] = answers[fault as keyof typeof answers];
    refuse(response, status, type, { message });
  }
}

function refuse(response: ServerResponse, status: number, type: string, error: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...error }));
}
