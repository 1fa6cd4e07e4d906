import type { OperationId } from '../../../shared/contract/operations.ts';
import type { Answer } from './answers.ts';

/** What AWS bills for one request, in its own units. */
export interface BilledUnits {
  /** What the gateway counts; none for what it refuses for its rate, one for each 10 MB of a streamed answer. */
  readonly gatewayRequests: number;
  /** Calls of the function. */
  readonly functionCalls: number;
  readonly memoryMegabytes: number;
  /** An assumption, of `billedDuration.ts`. */
  readonly billedMilliseconds: number;
  /** With an API key that the container remembers: looking one up reads a unit more. */
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Head and body, as they go to the client. */
  readonly responseBytes: number;
  readonly logBytes: LogBytes;
}

/** The bytes of a request's log lines. */
export interface LogBytes {
  /** The function's own. */
  readonly request: number;
  /** Lambda's, of the call's beginning and its end. */
  readonly start: number;
  readonly report: number;
  /** The gateway's access log. */
  readonly access: number;
}

/** The units of one of an operation's answers. */
export interface AnswerUnits extends BilledUnits {
  readonly operationId: OperationId;
  readonly answer: Answer;
  /** The length of the inventory, where the units grow with it. */
  readonly entries?: number;
}

/** A log line's bytes, all kinds together. */
export function sumLogBytes({ request, start, report, access }: LogBytes): number {
  return request + start + report + access;
}
