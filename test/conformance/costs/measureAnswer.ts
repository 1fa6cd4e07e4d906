import {
  type Answer,
  type AnswerUnits,
  toBilledDuration,
  toGatewayRequests,
} from '../../../infra/costs/units/answerUnits.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { toLogBytes } from './logLines.ts';

/** A request's line as the function logged it. */
export type RequestLine = Readonly<Record<string, unknown>>;

/** What was seen of a request. */
export interface Seen {
  readonly operationId: OperationId;
  readonly answer: Answer;
  readonly path: string;
  readonly response: ExactResponse;
  /** None where the request reached no function. */
  readonly line?: RequestLine;
  readonly entries?: number;
}

/** The units of an answer that was seen. */
export function toAnswerUnits(seen: Seen): AnswerUnits {
  const { operationId, answer, path, response, line, entries } = seen;
  const { typical: milliseconds } = toBilledDuration(operationId, answer, entries);
  const responseBytes = toHeadBytes(response) + response.bytes.length;
  return {
    operationId,
    answer,
    ...(entries !== undefined && { entries }),
    gatewayRequests: line ? toGatewayRequests(responseBytes) : 0,
    functionCalls: line ? 1 : 0,
    memoryMegabytes: stages.production.settings.memoryMegabytes[operationId],
    billedMilliseconds: milliseconds,
    readUnits: Number(line?.readUnits ?? 0),
    writeUnits: Number(line?.writeUnits ?? 0),
    responseBytes,
    logBytes: toLogBytes({
      ...(line && { message: toUsualLine(line, milliseconds) }),
      path: `/v1${path.split('?')[0]}`,
      route: operations[operationId].path,
      method: operations[operationId].method,
      status: response.status,
      bodyBytes: response.bytes.length,
      milliseconds,
    }),
  };
}

/** What differs from one run to another, or on AWS, as long as it usually is. */
function toUsualLine(line: RequestLine, milliseconds: number): RequestLine {
  return {
    ...line,
    requestId: 'b2c3d4e5-0f1a-4b2c-8d3e-4f5a6b7c8d9e',
    milliseconds,
    ...('firstByteMilliseconds' in line && { firstByteMilliseconds: milliseconds }),
    ...(line.keyName !== undefined && { keyName: 'storefront-web' }),
    commit: '0123456789ab',
    version: '42',
  };
}

/** What the gateway adds to each answer on AWS. */
const addedByTheGateway = [
  'x-amzn-RequestId: b2c3d4e5-0f1a-4b2c-8d3e-4f5a6b7c8d9e',
  'x-amz-apigw-id: AbCdEfGhIjKlMnO=',
  'X-Amzn-Trace-Id: Root=1-6922f0b2-710d76f009d6e7785905449a;Parent=0efbd19962d95b05;Sampled=0',
];

/** Only the local stage's server tells it. */
const addedLocally = ['keep-alive'];

function toHeadBytes({ status, headers }: ExactResponse): number {
  const lines = [...headers]
    .filter(([name]) => !addedLocally.includes(name))
    .map(([name, value]) => `${name}: ${value}`);
  const reason = status === 200 ? 'OK' : 'Precondition Failed';
  return Buffer.byteLength(
    `${[`HTTP/1.1 ${status} ${reason}`, ...lines, ...addedByTheGateway].join('\r\n')}\r\n\r\n`,
  );
}
