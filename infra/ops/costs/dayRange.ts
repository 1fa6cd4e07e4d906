import { parseInstant } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';

/** Whole days of UTC, in milliseconds since the epoch. */
export interface DayRange {
  readonly from: number;
  /** The midnight behind the last day. */
  readonly end: number;
}

export const DAY_MILLISECONDS = 86_400_000;

/**
 * @param typed the first and the last day
 * @throws {UsageError} when a day is none, the first comes behind the last, or has not come yet
 */
export function parseDayRange(typed: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): DayRange {
  const [from, to] = [parseDay('--from', typed.from), parseDay('--to', typed.to)];
  if (from > to) throw new UsageError(`--from ${typed.from} comes after --to ${typed.to}.`);
  if (from > Date.now()) throw new UsageError(`--from ${typed.from} has not come yet.`);
  return { from, end: to + DAY_MILLISECONDS };
}

function parseDay(option: string, text: string | undefined): number {
  const time = parseInstant(`${text}T00:00:00Z`)?.getTime();
  if (time !== undefined) return time;
  const found = text === undefined ? 'missing' : `"${text}"`;
  throw new UsageError(`${option} must be a day such as 2026-11-30; it is ${found}.`);
}

/** The parts of the range that lie in one calendar month each, by which AWS bills. */
export function splitByMonth({ from, end }: DayRange): DayRange[] {
  if (from >= end) return [];
  const next = toMonth(from).end;
  return [{ from, end: Math.min(next, end) }, ...splitByMonth({ from: next, end })];
}

/** The calendar month that a time lies in. */
export function toMonth(time: number): DayRange {
  const date = new Date(time);
  const start = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset);
  return { from: start(0), end: start(1) };
}

/** Such as `2026-11-30`. */
export function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
