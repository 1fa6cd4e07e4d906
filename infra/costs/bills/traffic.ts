import { readFileSync } from 'node:fs';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { type Answer, answersOf, findUnits, readRecordedUnits } from '../units/answerUnits.ts';

/** How many requests of one month get one answer. */
export interface TrafficShare {
  readonly operationId: OperationId;
  readonly answer: Answer;
  readonly requests: number;
}

/** The requests of a month. */
export interface Traffic {
  /** The length of the inventory. */
  readonly entries: number;
  readonly shares: readonly TrafficShare[];
}

/** A traffic that cannot be priced; the message is one line for whoever wrote it. */
export class TrafficError extends Error {
  override readonly name = 'TrafficError';
}

export function sumRequests({ shares }: Traffic): number {
  return shares.reduce((sum, { requests }) => sum + requests, 0);
}

/** The traffic that changes of what a request costs are told for; to be kept like the stage's own. */
export function readCommittedTraffic(): Traffic {
  return parseTraffic(readFileSync(new URL('../traffic.json', import.meta.url), 'utf8'));
}

/** How long the inventory is taken to be where nobody says. */
export const usualEntries = 1_000;

/**
 * The traffic of a file: `{"entries": 1000, "requests": {"getPet": 2000000, "listInventory 200 gzip": …}}`,
 * the requests of a month by operation and answer; `200` where no answer is named.
 * @throws {TrafficError} when it is anything else
 */
export function parseTraffic(text: string): Traffic {
  const { entries = usualEntries, requests } = parseObject(text);
  if (typeof requests !== 'object' || requests === null || Array.isArray(requests)) {
    throw new TrafficError(`A traffic file holds {"requests": {"getPet": 2000000}}.`);
  }
  const shares = Object.entries(requests).map(([name, count]) => {
    const [operationId = '', ...answer] = name.split(' ');
    const requests = typeof count === 'number' ? count : Number.NaN;
    return toShare(operationId, answer.join(' '), requests, `${name}: ${JSON.stringify(count)}`);
  });
  return { entries: toEntries(entries), shares };
}

/**
 * The traffic of an option: `getPet=2M,listInventory:gzip=500k`, the requests of a month by operation and,
 * behind a colon, what sets the answer apart from a plain 200: `gzip`, `304`, `401`.
 * @throws {TrafficError} when it is anything else
 */
export function parseRequests(text: string): TrafficShare[] {
  return text.split(',').map((part) => {
    const [, operationId = '', answer = '', count = ''] =
      /^\s*([^:=]*)(?::([^=]*))?=(.*?)\s*$/.exec(part) ?? [];
    return toShare(operationId, answer, parseCount(count), part);
  });
}

/** The same requests, those without such an answer answered 200: a list of several pages has no 304. */
export function toAnswerable(traffic: Traffic): Traffic {
  const recorded = readRecordedUnits();
  const shares = traffic.shares.map((share) => {
    const units = findUnits(recorded, share.operationId, share.answer, traffic.entries);
    return units ? share : { ...share, answer: '200' as const };
  });
  return { ...traffic, shares };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw new TrafficError(`The traffic file is not JSON: ${(error as Error).message}`);
  }
  throw new TrafficError('A traffic file is a JSON object.');
}

const factors: Record<string, number> = { '': 1, k: 1e3, M: 1e6, G: 1e9 };

function parseCount(text: string): number {
  const [, digits = '', factor = ''] = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(text) ?? [];
  return digits === '' ? Number.NaN : Math.round(Number(digits) * (factors[factor] ?? 1));
}

function toShare(
  operationId: string,
  answer: string,
  requests: number,
  part: string,
): TrafficShare {
  const id = operationIds.find((one) => one === operationId);
  if (id === undefined) {
    throw new TrafficError(
      `There is no operation "${operationId}" in "${part}"; write getPet=2M, of ${operationIds.join(', ')}.`,
    );
  }
  if (!Number.isInteger(requests) || requests < 0) {
    throw new TrafficError(`"${part}" must name a count of requests such as 2000000, 500k or 2M.`);
  }
  return { operationId: id, answer: findAnswer(id, answer), requests };
}

function findAnswer(operationId: OperationId, name: string): Answer {
  const answers = answersOf[operationId];
  const found = answers.find((answer) => answer === (name || '200') || answer === `200 ${name}`);
  if (found) return found;
  throw new TrafficError(`${operationId} has no answer "${name}"; it has ${answers.join(', ')}.`);
}

function toEntries(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 0) return value as number;
  throw new TrafficError(`entries must be a whole number from 0; it is ${JSON.stringify(value)}.`);
}
