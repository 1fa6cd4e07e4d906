import { readFileSync } from 'node:fs';
import type { OperationId } from '../../../shared/contract/operations.ts';
import type { Answer, AnswerUnits, BilledUnits } from './answerUnits.ts';
import { toBilledDuration } from './billedDuration.ts';

/** Where `test/conformance/costs/units.test.ts` writes down what it measured. */
export const unitsFile = new URL('units.json', import.meta.url);

/** The units of every answer, as they were measured. */
export function readRecordedUnits(): AnswerUnits[] {
  return parseUnits(readFileSync(unitsFile, 'utf8'));
}

/** @param text of `units.json`, of this checkout or of another */
export function parseUnits(text: string): AnswerUnits[] {
  return JSON.parse(text) as AnswerUnits[];
}

/**
 * The units of an answer with an inventory of any length: as measured, or on the straight line between
 * two measured lengths, or beyond the last two.
 * @returns `undefined` where there is no such answer: an inventory of several pages has no 304
 */
export function findUnits(
  recorded: readonly AnswerUnits[],
  operationId: OperationId,
  answer: Answer,
  entries: number,
): BilledUnits | undefined {
  const points = recorded.filter((one) => one.operationId === operationId && one.answer === answer);
  const [first] = points;
  if (first?.entries === undefined) return first;
  const exact = points.find((point) => point.entries === entries);
  if (exact) return exact;
  if (answer === '304' && entries > MAX_ENTRIES_OF_A_PAGE) return undefined;
  const behind = points.findIndex((point) => (point.entries ?? 0) > entries);
  const index = behind < 0 ? points.length - 1 : Math.max(behind, 1);
  const [from, to] = [points[index - 1] ?? first, points[index] ?? first];
  return {
    ...toBetween(from, to, entries),
    billedMilliseconds: toBilledDuration(operationId, answer, entries).typical,
  };
}

/** Of entries that were updated once, which take 24 bytes of the 1 MB that a page of a Scan has. */
const MAX_ENTRIES_OF_A_PAGE = 43_000;

function toBetween(from: AnswerUnits, to: AnswerUnits, entries: number): BilledUnits {
  const { entries: start = 0 } = from;
  const { entries: end = 1 } = to;
  const share = end === start ? 0 : (entries - start) / (end - start);
  const between = (a: number, b: number) => a + (b - a) * share;
  const responseBytes = Math.max(0, Math.round(between(from.responseBytes, to.responseBytes)));
  return {
    ...from,
    // Half a unit is the least that a read is billed by.
    readUnits: Math.max(0.5, Math.round(2 * between(from.readUnits, to.readUnits)) / 2),
    responseBytes,
    gatewayRequests: toGatewayRequests(responseBytes),
  };
}

/** Of a streamed answer, what counts as a request, when begun: https://aws.amazon.com/api-gateway/pricing/ */
export const BYTES_OF_A_REQUEST = 10 * 2 ** 20;

export function toGatewayRequests(responseBytes: number): number {
  return Math.max(1, Math.ceil(responseBytes / BYTES_OF_A_REQUEST));
}
