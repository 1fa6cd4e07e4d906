import { sortByAmount, sumOf, toCents, type Usage } from '../bills/usage.ts';
import { DAY_MILLISECONDS, type DayRange, toDay } from '../costOptions.ts';
import { type Prices, toUnitDollars, usageKinds, usageParts } from '../prices.ts';
import type { BilledMonth, PricedLine } from './billedMonth.ts';
import type { Bill, BilledDay } from './readBill.ts';

/** What made a month differ from the accepted one, or why that cannot be said. */
export interface Cause {
  readonly name: 'bill' | 'price' | 'traffic' | 'use' | 'not ours';
  /** What it added or saved. */
  readonly dollars: number;
  /** The end of a sentence, such as `more requests`. */
  readonly text: string;
}

/** How much a line may differ from the list before its price is another one: AWS rounds each line. */
const PRICE_TOLERANCE = 0.005;
const CENT = 0.01;

export function isListed({ difference, list }: Pick<PricedLine, 'difference' | 'list'>): boolean {
  return Math.abs(difference) <= Math.max(CENT, PRICE_TOLERANCE * list);
}

/** The largest price that is not AWS's list price, if there is one. */
export function findPriceCause({ lines }: Pick<BilledMonth, 'lines'>): Cause[] {
  const unlisted = lines.filter((line) => !isListed(line));
  const wrong = sortByAmount(unlisted, (line) => line.difference);
  const [most, ...others] = wrong;
  if (!most) return [];
  const { difference, list, name, region, billedPrice = 0, listPrice } = most;
  const percent = Math.abs(100 * (billedPrice / listPrice - 1));
  const also = others.length > 0 ? `, and ${others.length} more` : '';
  const text =
    billedPrice === 0 || Math.abs(difference + list) < CENT
      ? `AWS charged nothing for ${name} in ${region}${also}`
      : `AWS charged ${toPercent(percent)} ${difference > 0 ? 'more' : 'less'} than its list price for ${name} in ${region}${also}`;
  return [{ name: 'price', dollars: sumOf(wrong, (line) => line.difference), text }];
}

/** Lines with the stage's tags that the service does not use. */
export function findForeignCause({ notOurs, usage }: BilledMonth): Cause[] {
  const [most, ...others] = sortByAmount(notOurs, (one) => one.dollars);
  const dollars = sumOf(notOurs, (one) => one.dollars);
  if (!most || Math.abs(dollars) <= Math.max(CENT, usage / 100)) return [];
  const also = others.length > 0 ? ` and ${others.length} more` : '';
  const text = `${toDollars(most.dollars)} for ${most.name}${also} has the stage's tags, and is not of this service`;
  return [{ name: 'not ours', dollars, text }];
}

export type UsedLine = ReturnType<typeof compareUse>[number];

/**
 * Whether as much was used as this traffic takes, and as the accepted traffic takes.
 * @param share how much of a month it is
 */
export function compareUse(
  use: Usage,
  ofTraffic: Usage,
  ofAccepted: Usage,
  prices: Prices,
  share: number,
) {
  return usageKinds.flatMap((kind) => {
    const used = use[kind] ?? 0;
    /** What the model says for the traffic that was, and for the accepted one. */
    const expected = share * (ofTraffic[kind] ?? 0);
    const accepted = share * (ofAccepted[kind] ?? 0);
    if (used + expected + accepted === 0) return [];
    const price = toUnitDollars(prices[kind], used);
    const dollars = {
      ofAll: expected * price,
      ofTraffic: (expected - accepted) * price,
      ofUse: (used - expected) * price,
    };
    return [{ kind, name: usageParts[kind][1], used, expected, accepted, dollars }];
  });
}

/** More or fewer requests than accepted, and the days on which they were. */
export function findTrafficCause(lines: readonly UsedLine[], days: readonly BilledDay[]): Cause[] {
  const dollars = sumOf(lines, (line) => line.dollars.ofTraffic);
  const total = sumOf(lines, (line) => line.dollars.ofAll);
  const gateway = lines.find(({ kind }) => kind === 'gatewayRequests');
  if (!gateway || Math.abs(dollars) <= Math.max(CENT, total / 100)) return [];
  const percent = 100 * (gateway.expected / gateway.accepted - 1);
  const mix = `of ${dollars > 0 ? 'more expensive' : 'cheaper'} operations`;
  const isMore = percent > 0;
  const part = describeDays(days, gateway.accepted / days.length, isMore);
  const text =
    Math.abs(percent) < 1
      ? `as many requests as accepted were ${mix}`
      : `there were ${toDifference(percent)} requests than accepted${part}${isMore === dollars > 0 ? '' : `, but ${mix}`}`;
  return [{ name: 'traffic', dollars, text }];
}

/** The run of days that has most of the difference, such as `, mostly from 8 to 14 November (20 % more)`. */
function describeDays(days: readonly BilledDay[], accepted: number, isMore: boolean): string {
  const sorted = days.map(({ requests }) => requests).sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const excess = ({ requests }: BilledDay) => (isMore ? requests - median : median - requests);
  const runs: BilledDay[][] = [[]];
  for (const day of days) {
    if (excess(day) > 0.05 * median) runs.at(-1)?.push(day);
    else runs.push([]);
  }
  const toExcess = (run: readonly BilledDay[]) => sumOf(run, excess);
  const [most = []] = sortByAmount(runs, toExcess);
  const [first, last] = [most[0], most.at(-1)];
  const all = Math.abs(sumOf(days, ({ requests }) => requests - accepted));
  if (!first || !last || most.length > days.length / 2 || toExcess(most) < all / 2) return '';
  const percent = (100 * toExcess(most)) / (median * most.length);
  return `, mostly ${toSpan(first.day, last.day)} (${toDifference(isMore ? percent : -percent)} than on other days)`;
}

/** Requests that used more or less than measured, such as a function that takes longer. */
export function findUseCause(lines: readonly UsedLine[]): Cause[] {
  const total = sumOf(lines, ({ dollars }) => dollars.ofAll);
  const far = lines.filter(({ used, expected, dollars }) => {
    const isFar = Math.abs(used - expected) > 0.05 * expected;
    return isFar && Math.abs(dollars.ofUse) > Math.max(CENT, total / 100);
  });
  const [most] = sortByAmount(far, ({ dollars }) => dollars.ofUse);
  if (!most) return [];
  const { name, used, expected } = most;
  const percent = 100 * (used / expected - 1);
  const text =
    expected === 0
      ? `${name} were used, which the model does not have`
      : used === 0
        ? `no ${name} were billed`
        : `there were ${toDifference(percent)} ${name} than this traffic takes`;
  return [{ name: 'use', dollars: sumOf(far, ({ dollars }) => dollars.ofUse), text }];
}

/** What is wrong with the days of a bill: missing, there twice, or an end before that of the month. */
export function findBillCause(
  { days, isDaily }: Pick<Bill, 'days' | 'isDaily'>,
  { from, end }: DayRange,
  today: number,
  untagged: number,
): Cause[] {
  const billed = new Set(days.map(({ day }) => day));
  const last = days.at(-1)?.day ?? '';
  const all = [];
  for (let day = from; day < end; day += DAY_MILLISECONDS) all.push(toDay(day));
  const missing = all.filter((day) => day < last && !billed.has(day));
  const twice = days.filter(({ copies }) => copies > 1).map(({ day }) => day);
  const ofOthers =
    untagged > CENT
      ? ` with the stage's tags, and ${toDollars(untagged)} of such services has none`
      : '';
  const texts = [
    missing.length > 0 && `it has no lines of ${listDays(missing)}${ofOthers}`,
    twice.length > 0 && `it has ${isDaily ? listDays(twice) : 'its lines'} twice`,
    end <= today && last < toDay(end - 1) && `it ends on ${toDate(last)}`,
  ].filter(Boolean);
  return texts.length > 0 ? [{ name: 'bill', dollars: 0, text: texts.join(', and ') }] : [];
}

/** Such as `1 November and 3 to 5 November`. */
function listDays(days: readonly string[]): string {
  const next = (day: string, step: number) => toDay(Date.parse(day) + step * DAY_MILLISECONDS);
  const starts = days.filter((day) => !days.includes(next(day, -1)));
  const ends = days.filter((day) => !days.includes(next(day, 1)));
  const spans = starts.map((from, index) => toSpan(from, ends[index] ?? from));
  return list.format(spans.map((span) => span.replace(/^(on|from) /, '')));
}

function toSpan(from: string, to: string): string {
  return from === to ? `on ${toDate(from)}` : `from ${Number(from.slice(8))} to ${toDate(to)}`;
}

const list = new Intl.ListFormat('en-GB');
const inUtc = { month: 'long', timeZone: 'UTC' } as const;
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', ...inUtc });
export const toDate = (day: string) => date.format(Date.parse(day));
const monthFormat = new Intl.DateTimeFormat('en-GB', { year: 'numeric', ...inUtc });
/** Such as `November 2026`. */
export const toMonthName = (month: string) => monthFormat.format(Date.parse(`${month}-01`));

/** Such as `-$3.00`. */
export function toDollars(dollars: number): string {
  return `${dollars < -0.004 ? '−' : ''}$${toCents(Math.abs(dollars))}`;
}

/** Such as `4.7 %`. */
export function toPercent(percent: number): string {
  return `${percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** Such as `4.7 % more`. */
const toDifference = (percent: number) =>
  `${toPercent(Math.abs(percent))} ${percent > 0 ? 'more' : 'fewer'}`;

export const capitalize = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
