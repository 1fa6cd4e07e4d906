import type { LogBytes } from '../../../infra/costs/units/answerUnits.ts';
import type { accessLogFormat } from '../../../infra/gateway/accessLogFormat.ts';

const id = 'b2c3d4e5-0f1a-4b2c-8d3e-4f5a6b7c8d9e';
const time = '2026-11-21T20:15:30.123Z';
const traceId = 'Root=1-6922f0b2-710d76f009d6e7785905449a;Parent=0efbd19962d95b05;Sampled=0';
const tracing = { spanId: '54565fb41ac79632', type: 'X-Amzn-Trace-Id', value: traceId };

/**
 * What Lambda writes of a call by itself, in the form of
 * https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html
 */
const start = { time, type: 'platform.start', record: { requestId: id, version: '42' } };
const report = {
  time,
  type: 'platform.report',
  record: {
    requestId: id,
    metrics: { durationMs: 9.87, billedDurationMs: 10, memorySizeMB: 512, maxMemoryUsedMB: 104 },
    tracing,
    status: 'success',
  },
};

/** What is known of a request, and is not the same in all of them. */
export interface LoggedRequest {
  /** What the function wrote; none where the request did not reach it. */
  readonly message?: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly bodyBytes: number;
  readonly milliseconds: number;
}

/** The bytes of a request's log lines. CloudWatch bills for the text alone. */
export function toLogBytes(request: LoggedRequest): LogBytes {
  const { message } = request;
  return {
    // Lambda's JSON log format: https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
    request: message ? toBytes({ timestamp: time, level: 'INFO', requestId: id, message }) : 0,
    start: message ? toBytes(start) : 0,
    report: message ? toBytes(report) : 0,
    access: toBytes(toAccessLine(request)),
  };
}

function toAccessLine(request: LoggedRequest): Record<keyof typeof accessLogFormat, string> {
  const isCalled = request.message !== undefined;
  const byFunction = (text: string) => (isCalled ? text : '-');
  const milliseconds = String(request.milliseconds);
  return {
    requestId: id,
    time: '1795292130123',
    sourceIp: '203.0.113.195',
    method: request.method,
    path: request.path,
    route: request.route,
    status: String(request.status),
    bytes: String(request.bodyBytes),
    latency: milliseconds,
    functionLatency: byFunction(milliseconds),
    functionStatus: byFunction('200'),
    functionError: '-',
    functionRequestId: byFunction(id),
    gatewayError: isCalled ? '-' : 'THROTTLED',
    traceId: 'Root=1-6922f0b2-710d76f009d6e7785905449a',
  };
}

function toBytes(line: object): number {
  return Buffer.byteLength(JSON.stringify(line));
}
