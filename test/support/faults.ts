import type { ServerResponse } from 'node:http';

const throttled = 'The level of configured provisioned throughput for the table was exceeded.';
const denied = 'User: arn:aws:sts::123456789012:assumed-role/secret is not authorized to perform';
const absent = 'Requested resource not found: Table: petstore-secret not found';

/** How DynamoDB, or the way to it, can fail. */
const answers = {
  throughputExceeded: [400, 'ProvisionedThroughputExceededException', throttled],
  throttled: [400, 'ThrottlingException', 'Rate of requests exceeds the allowed throughput.'],
  requestLimit: [400, 'RequestLimitExceeded', 'Throughput exceeds the current throughput limit.'],
  internalServerError: [500, 'InternalServerError', 'Could not process the request.'],
  unavailable: [503, 'ServiceUnavailable', 'Service is unavailable, please retry'],
  accessDenied: [400, 'AccessDeniedException', denied],
  resourceNotFound: [400, 'ResourceNotFoundException', absent],
} as const satisfies Record<string, readonly [status: number, type: string, message: string]>;

/** `lostAnswer` is a call that takes effect, and whose answer never arrives. */
export type Fault =
  | keyof typeof answers
  | 'htmlError'
  | 'hang'
  | 'reset'
  | 'brokenBody'
  | 'lostAnswer';

/** Answers as the fault says, or does not answer. */
export function giveFault(fault: Fault, response: ServerResponse): void {
  if (fault === 'hang') return;
  if (fault === 'reset' || fault === 'lostAnswer') {
    response.socket?.resetAndDestroy();
  } else if (fault === 'brokenBody') {
    response.writeHead(200, {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': 999,
    });
    response.write('{"Items":[{"p":{"N":"1"', () => response.destroy());
  } else if (fault === 'htmlError') {
    response.writeHead(502, { 'content-type': 'text/html' });
    response.end('<html><body>502 Bad Gateway</body></html>');
  } else {
    const [status, type, message] = answers[fault];
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message }));
  }
}
