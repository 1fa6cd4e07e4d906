import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operations,
} from '../../../shared/contract/operations.ts';

/** An answer whose cost is told: a status, and what makes it cost more or less than another of the same status. */
export type Answer =
  | '200'
  | `200 ${'gzip' | 'zstd' | 'petId' | 'Idempotency-Key'}`
  | '304'
  | `${(typeof statusOfCode)[keyof typeof statusOfCode]}`;

/**
 * Every operation's answers. 413 and 415 cost what 400 does, and failures of 500 and more what the answer
 * would have that they stand in place of.
 */
export const answersOf: Readonly<Record<OperationId, readonly Answer[]>> = mapOperations((id) =>
  listAnswers(operations[id]),
);

function listAnswers({ streamed, query = {}, requestHeaders = [], errors }: Operation): Answer[] {
  return [
    '200',
    ...(streamed ? (['200 gzip', '200 zstd'] as const) : []),
    ...('petId' in query ? (['200 petId'] as const) : []),
    ...(requestHeaders.includes('Idempotency-Key') ? (['200 Idempotency-Key'] as const) : []),
    ...(requestHeaders.includes('If-None-Match') ? (['304'] as const) : []),
    ...errors
      .filter((code) => code !== 'payload_too_large' && code !== 'unsupported_media_type')
      .map((code) => `${statusOfCode[code]}` as const),
    '429',
  ];
}

const answersBySize: readonly Answer[] = ['200', '200 gzip', '200 zstd', '304'];

/** Whether an answer's units grow with the inventory, as those of a whole list do. */
export function growsWithInventory(operationId: OperationId, answer: Answer): boolean {
  return operations[operationId].streamed && answersBySize.includes(answer);
}

/** The lengths of the inventory, in entries, that those answers were measured at. */
export const measuredSizes = [1_000, 10_000, 100_000] as const;

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
