import { tell } from '../../cli/output.ts';
import { parseInstant } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';
import type { CostOptions } from './costOptions.ts';

/** Whole days of UTC, in milliseconds since the epoch. */
export interface DayRange {
  readonly from: number;
  /** The midnight after the last day. */
  readonly end: number;
}

export const DAY_MILLISECONDS = 86_400_000;

/** The midnight after the last whole day. */
export const toToday = () => Date.now() - (Date.now() % DAY_MILLISECONDS);

/** Ends at the last whole day, and says so. */
export function parseDayRange(typed: Pick<CostOptions<'by-key'>, 'from' | 'to'>): DayRange {
  const [from, to] = [parseDay('--from', typed.from), parseDay('--to', typed.to)];
  if (from > to) throw new UsageError(`--from ${typed.from} comes after --to ${typed.to}.`);
  const today = toToday();
  const last = `the last whole day of UTC is ${toDay(today - 1)}.`;
  if (from >= today) throw new UsageError(`--from ${typed.from} is not over: ${last}`);
  if (to >= today) tell(`--to ${typed.to} is not over: ${last} The days end there.`);
  return { from, end: Math.min(to + DAY_MILLISECONDS, today) };
}

function parseDay(option: string, text: string | undefined): number {
  const time = parseInstant(`${text}T00:00:00Z`)?.getTime();
  if (time !== undefined) return time;
  const found = text === undefined ? 'missing' : `"${text}"`;
  throw new UsageError(`${option} must be a day such as 2026-11-30; it is ${found}.`);
}

/** Splits the range by calendar month, as AWS bills, with each part's share of its month. */
export function splitByMonth({ from, end }: DayRange): (DayRange & { readonly share: number })[] {
  if (from >= end) return [];
  const month = toMonth(from);
  const last = Math.min(month.end, end);
  const share = (last - from) / (month.end - month.from);
  return [{ from, end: last, share }, ...splitByMonth({ from: month.end, end })];
}

/** The whole month in which the time is. */
export function toMonth(time: number): DayRange {
  const date = new Date(time);
  const toStart = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset);
  return { from: toStart(0), end: toStart(1) };
}

/** Such as `2026-11-30`. */
export function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
