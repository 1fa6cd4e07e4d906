import type { AccessLogLine } from '../../gateway/accessLogFormat.ts';
import type { gatewayErrors } from '../../gateway/gatewayErrors.ts';
import type { GatewayAnswer } from './gatewayAnswer.ts';
import type { GatewayRequest } from './gatewayRequest.ts';

/** What the access log says of an answer that no function gave, beside the answer itself. */
export interface Logged {
  /** The path of the contract, such as `/pets/{petId}`; none at an unknown path. */
  readonly route?: string;
  /** API Gateway's response type; none of its fixed answers has one. */
  readonly gatewayError?: keyof typeof gatewayErrors;
}

/** @param milliseconds how long the answer took */
export function toAccessLine(
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
export function writeAccessLine(line: AccessLogLine): void {
  process.stderr.write(`${JSON.stringify(line)}\n`);
}
