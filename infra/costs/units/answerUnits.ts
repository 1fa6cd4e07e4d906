import { readFileSync } from 'node:fs';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operations,
} from '../../../shared/contract/operations.ts';
import { type RecordSizes, toRecordBytes, usualSizes } from './sizes.ts';

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

/** Whether an answer's units grow with the inventory, as those of a whole list do. */
export function growsWithInventory(operationId: OperationId, answer: Answer): boolean {
  const bySize: readonly Answer[] = ['200', '200 gzip', '200 zstd', '304'];
  return operations[operationId].streamed && bySize.includes(answer);
}

/** The lengths of the inventory, in entries, that those answers were measured at, and those of its ids, in digits. */
export const measuredSizes = [1_000, 10_000, 100_000] as const;
export const measuredDigits = [7, 19] as const;

/** What AWS bills for one request, in its own units. */
export interface BilledUnits {
  /** What the gateway counts; none for what it refuses for its rate, one for each 10 MB of a streamed answer. */
  readonly gatewayRequests: number;
  /** Calls of the function. */
  readonly functionCalls: number;
  readonly memoryMegabytes: number;
  /** Assumed, see `toBilledDuration`. */
  readonly billedMilliseconds: number;
  /** With an API key that the container remembers: looking one up reads a unit more. */
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Head and body, as they go to the client. */
  readonly responseBytes: number;
  /** Of its log lines: the function's own, Lambda's of the call's beginning and end, and the gateway's. */
  readonly logBytes: Readonly<Record<'request' | 'start' | 'report' | 'access', number>>;
}

/** The units of one of an operation's answers. */
export interface AnswerUnits extends BilledUnits {
  readonly operationId: OperationId;
  readonly answer: Answer;
  /** The length of the inventory and of its ids, where the units grow with it; no entry has a version. */
  readonly entries?: number;
  readonly idDigits?: number;
}

/** What the tests measure; the memory is the stage's. */
export type MeasuredUnits = Omit<AnswerUnits, 'memoryMegabytes'>;

/** Where `test/conformance/costs/units.test.ts` writes down what it measured. */
export const unitsFile = new URL('units.json', import.meta.url);

/** The units of every answer, as they were measured. */
export function readRecordedUnits(): MeasuredUnits[] {
  return JSON.parse(readFileSync(unitsFile, 'utf8'));
}

/**
 * The units of an answer with an inventory of any length: as measured, or on the straight line between
 * two measured lengths, or beyond the last two; and likewise by the length of its ids.
 * @returns `undefined` where there is no such answer: an inventory of several pages has no 304
 */
export function findUnits<Units extends MeasuredUnits>(
  { units, sizes = usualSizes }: { readonly units: readonly Units[]; readonly sizes?: RecordSizes },
  operationId: OperationId,
  answer: Answer,
  entries: number,
): Units | undefined {
  const points = units.filter((one) => one.operationId === operationId && one.answer === answer);
  const [first] = points;
  if (first?.entries === undefined) return first;
  if (answer === '304' && entries * toRecordBytes(sizes) > BYTES_OF_A_PAGE) return undefined;
  const byDigits = [...Map.groupBy(points, ({ idDigits }) => Number(idDigits))];
  const between = (name: 'readUnits' | 'responseBytes') => {
    const values = byDigits.map(([digits, own]) => {
      const lengths = own.map((point) => [Number(point.entries), point[name]] as const);
      return [digits, toValueAt(entries, lengths)] as const;
    });
    return toValueAt(sizes.idDigits, values);
  };
  const versionBytes = toRecordBytes(sizes) - toRecordBytes({ ...sizes, taggedShare: 0 });
  const responseBytes = Math.round(between('responseBytes'));
  return {
    ...first,
    // By half units, of 4 KB each.
    readUnits: Math.round(2 * (between('readUnits') + (entries * versionBytes) / 8_192)) / 2,
    responseBytes,
    gatewayRequests: toGatewayRequests(responseBytes),
    billedMilliseconds: toBilledDuration(operationId, answer, entries),
  };
}

/** On the straight line between two neighbouring points, or beyond the last two. */
function toValueAt(at: number, points: readonly (readonly [at: number, value: number])[]): number {
  const behind = points.findIndex(([start]) => start >= at);
  const index = behind < 0 ? points.length - 1 : Math.max(behind, 1);
  const [end, last] = points[index] ?? points[0] ?? [0, 0];
  const [start, value] = points[index - 1] ?? [end, last];
  return start === end ? value : value + ((last - value) * (at - start)) / (end - start);
}

/** Of records, what a page of a Scan has. */
const BYTES_OF_A_PAGE = 2 ** 20;

/** Of a streamed answer, what counts as a request, when begun: https://aws.amazon.com/api-gateway/pricing/ */
export const BYTES_OF_A_REQUEST = 10 * 2 ** 20;

export function toGatewayRequests(responseBytes: number): number {
  return Math.max(1, Math.ceil(responseBytes / BYTES_OF_A_REQUEST));
}

/**
 * The milliseconds that Lambda bills for a call of a function that has the memory of `stages.ts`. Assumed, since no
 * model knows a network: the CPU that `npm run bench` measures, at the share of a processor that the memory buys, and
 * some 5 ms for each call of DynamoDB. A bill, or the platform's own report lines, tells the truth.
 */
export function toBilledDuration(operationId: OperationId, answer: Answer, entries = 0): number {
  if (growsWithInventory(operationId, answer)) {
    const [small, large] = listMilliseconds[toBodyKind(answer)];
    return Math.ceil(small + ((large - small) * (entries - 1_000)) / 99_000);
  }
  if (answer === '429') return 0;
  if (['400', '401', '403'].includes(answer)) return 2;
  return answer === '412' || answer === '200 Idempotency-Key' ? 15 : 10;
}

/** Of 1,000 and of 100,000 entries, with 1,024 MB. */
const listMilliseconds = { plain: [25, 700], gzip: [30, 900], zstd: [26, 730] } as const;

/** How the body of a list's answer is sent. */
export function toBodyKind(answer: Answer): keyof typeof listMilliseconds {
  if (answer === '200 zstd') return 'zstd';
  return answer === '200 gzip' ? 'gzip' : 'plain';
}
