import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { UsageError } from '../../cli/usage.ts';
import { type Answer, answersOf } from '../units/answers.ts';
import type { Traffic, TrafficShare } from './traffic.ts';

/** How long the inventory is taken to be where nobody says. */
export const usualEntries = 1_000;

/**
 * The traffic of a file: `{"entries": 1000, "requests": {"getPet": 2000000, "listInventory 200 gzip": …}}`,
 * the requests of a month by operation and answer; `200` where no answer is named.
 * @throws {UsageError} when it is anything else
 */
export function parseTraffic(text: string): Traffic {
  const { entries = usualEntries, requests } = parseObject(text);
  if (typeof requests !== 'object' || requests === null || Array.isArray(requests)) {
    throw new UsageError(`A traffic file holds {"requests": {"getPet": 2000000}}.`);
  }
  const shares = Object.entries(requests).map(([name, count]) => {
    const [operationId = '', ...answer] = name.split(' ');
    const requests = typeof count === 'number' ? count : Number.NaN;
    return toShare(operationId, answer.join(' '), requests, `${name}: ${JSON.stringify(count)}`);
  });
  return { entries: toEntries(entries), shares };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw new UsageError(`The traffic file is not JSON: ${(error as Error).message}`);
  }
  throw new UsageError('A traffic file is a JSON object.');
}

/**
 * The traffic of an option: `getPet=2M,listInventory:gzip=500k`, the requests of a month by operation and,
 * behind a colon, what sets the answer apart from a plain 200: `gzip`, `304`, `401`.
 * @throws {UsageError} when it is anything else
 */
export function parseRequests(text: string): TrafficShare[] {
  return text.split(',').map((part) => {
    const [, operationId = '', answer = '', count = ''] =
      /^\s*([^:=]*)(?::([^=]*))?=(.*?)\s*$/.exec(part) ?? [];
    return toShare(operationId, answer, parseCount(count), part);
  });
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
  if (!isOperation(operationId)) {
    throw new UsageError(
      `There is no operation "${operationId}" in "${part}"; write getPet=2M, of ${operationIds.join(', ')}.`,
    );
  }
  if (!Number.isInteger(requests) || requests < 0) {
    throw new UsageError(`"${part}" must name a count of requests such as 2000000, 500k or 2M.`);
  }
  return { operationId, answer: findAnswer(operationId, answer), requests };
}

function isOperation(name: string): name is OperationId {
  return operationIds.some((id) => id === name);
}

function findAnswer(operationId: OperationId, name: string): Answer {
  const answers: readonly Answer[] = answersOf[operationId];
  const found = answers.find((answer) => answer === (name || '200') || answer === `200 ${name}`);
  if (found) return found;
  throw new UsageError(`${operationId} has no answer "${name}"; it has ${answers.join(', ')}.`);
}

function toEntries(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 0) return value as number;
  throw new UsageError(`entries must be a whole number from 0; it is ${JSON.stringify(value)}.`);
}
