import { parseInstant } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';

/** Whole days of UTC, in milliseconds since the epoch. */
export interface DayRange {
  readonly from: number;
  /** The midnight behind the last day. */
  readonly end: number;
}

/** The first and the last day, as typed. */
export interface DayOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** @throws {UsageError} when a day is none, the first comes behind the last, or has not come yet */
export function parseDayRange({ from, to }: DayOptions, now = Date.now()): DayRange {
  const range = { from: parseDay('--from', from), end: parseDay('--to', to) + DAY_MILLISECONDS };
  if (range.from >= range.end) throw new UsageError(`--from ${from} comes after --to ${to}.`);
  if (range.from > now) throw new UsageError(`--from ${from} has not come yet.`);
  return range;
}

export const DAY_MILLISECONDS = 86_400_000;

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

function parseDay(option: string, text: string | undefined): number {
  const time = parseInstant(`${text}T00:00:00Z`)?.getTime();
  if (time !== undefined) return time;
  const found = text === undefined ? 'missing' : `"${text}"`;
  throw new UsageError(`${option} must be a day such as 2026-11-30; it is ${found}.`);
}
