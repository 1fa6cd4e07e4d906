import { sumOf, toCents, type Usage } from '../bills/usage.ts';
import { DAY_MILLISECONDS, toDay } from '../costOptions.ts';
import { type Prices, toUnitDollars, type UsageKind, usageKinds, usageParts } from '../prices.ts';
import type { BilledMonth, PricedLine } from './billedMonth.ts';
import type { BilledDay } from './readBill.ts';

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
  const wrong = lines
    .filter((line) => !isListed(line))
    .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference));
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
  const [most, ...others] = notOurs.toSorted(
    (one, other) => Math.abs(other.dollars) - Math.abs(one.dollars),
  );
  const dollars = sumOf(notOurs, (one) => one.dollars);
  if (!most || Math.abs(dollars) <= Math.max(CENT, usage / 100)) return [];
  const also = others.length > 0 ? ` and ${others.length} more` : '';
  const text = `${toDollars(most.dollars)} for ${most.name}${also} has the stage's tags, and is not of this service`;
  return [{ name: 'not ours', dollars, text }];
}

/** Whether as much was used as this traffic takes, and as the accepted traffic takes. */
export interface UsedLine {
  readonly kind: UsageKind;
  readonly name: string;
  readonly used: number;
  /** What the model says for the traffic that was, and for the accepted one. */
  readonly expected: number;
  readonly accepted: number;
  /** Of what is expected, and of the two differences. */
  readonly dollars: { readonly ofAll: number; readonly ofTraffic: number; readonly ofUse: number };
}

/** @param share how much of a month it is */
export function toUsedLines(
  used: ReadonlyMap<UsageKind, number>,
  expected: Usage,
  accepted: Usage,
  prices: Prices,
  share: number,
): UsedLine[] {
  return usageKinds.flatMap((kind) => {
    const own = used.get(kind) ?? 0;
    const [now, then] = [expected, accepted].map((one) => share * (one[kind] ?? 0)) as [
      number,
      number,
    ];
    if (own + now + then === 0) return [];
    const dollars = toUnitDollars(prices[kind], own);
    const effects = {
      ofAll: now * dollars,
      ofTraffic: (now - then) * dollars,
      ofUse: (own - now) * dollars,
    };
    return [
      {
        kind,
        name: usageParts[kind][1],
        used: own,
        expected: now,
        accepted: then,
        dollars: effects,
      },
    ];
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
  if (Math.abs(percent) < 1) {
    return [{ name: 'traffic', dollars, text: `as many requests as accepted were ${mix}` }];
  }
  const isMore = percent > 0;
  const isOther = isMore === dollars > 0 ? '' : `, but ${mix}`;
  const part = toDaysText(days, gateway.accepted / days.length, isMore);
  const text = `there were ${toPercent(Math.abs(percent))} ${isMore ? 'more' : 'fewer'} requests than accepted${part}${isOther}`;
  return [{ name: 'traffic', dollars, text }];
}

/** The run of days that has most of the difference, such as `, mostly from 8 to 14 November (20 % more)`. */
function toDaysText(days: readonly BilledDay[], accepted: number, isMore: boolean): string {
  const sorted = days.map(({ requests }) => requests).sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const excess = ({ requests }: BilledDay) => (isMore ? requests - median : median - requests);
  const runs: BilledDay[][] = [[]];
  for (const day of days) {
    if (excess(day) > 0.05 * median) runs.at(-1)?.push(day);
    else runs.push([]);
  }
  const toExcess = (run: readonly BilledDay[]) => sumOf(run, excess);
  const [most = []] = runs.sort((one, other) => toExcess(other) - toExcess(one));
  const [first, last] = [most[0], most.at(-1)];
  const all = Math.abs(sumOf(days, ({ requests }) => requests - accepted));
  if (!first || !last || most.length > days.length / 2 || toExcess(most) < all / 2) return '';
  const percent = (100 * toExcess(most)) / (median * most.length);
  return `, mostly ${toSpan(first.day, last.day)} (${toPercent(percent)} ${isMore ? 'more' : 'fewer'} than on other days)`;
}

/** Requests that used more or less than measured, such as a function that takes longer. */
export function findUseCause(lines: readonly UsedLine[]): Cause[] {
  const total = sumOf(lines, ({ dollars }) => dollars.ofAll);
  const others = lines
    .filter(({ used, expected, dollars }) => {
      const isFar = Math.abs(used - expected) > 0.05 * expected;
      return isFar && Math.abs(dollars.ofUse) > Math.max(CENT, total / 100);
    })
    .sort((one, other) => Math.abs(other.dollars.ofUse) - Math.abs(one.dollars.ofUse));
  const [most] = others;
  if (!most) return [];
  const { name, used, expected } = most;
  const text =
    expected === 0
      ? `${name} were used, which the model does not have`
      : used === 0
        ? `no ${name} were billed`
        : `there were ${toPercent(Math.abs(100 * (used / expected - 1)))} ${used > expected ? 'more' : 'fewer'} ${name} than this traffic takes`;
  return [{ name: 'use', dollars: sumOf(others, ({ dollars }) => dollars.ofUse), text }];
}

/** What is wrong with the days of a bill: missing, there twice, or an end before that of the month. */
export function findBillCause(
  { days, isDaily }: { readonly days: readonly BilledDay[]; readonly isDaily: boolean },
  month: { readonly from: number; readonly end: number },
  today: number,
  untagged: number,
): Cause[] {
  const billed = new Set(days.map(({ day }) => day));
  const last = days.at(-1)?.day ?? '';
  const all = Array.from({ length: (month.end - month.from) / DAY_MILLISECONDS }, (_, index) =>
    toDay(month.from + index * DAY_MILLISECONDS),
  );
  const missing = all.filter((day) => day < last && !billed.has(day));
  const twice = days.filter(({ copies }) => copies > 1).map(({ day }) => day);
  const isOver = month.end <= today;
  const ofOthers =
    untagged > CENT
      ? ` with the stage's tags, and ${toDollars(untagged)} of such services has none`
      : '';
  const texts = [
    ...(missing.length > 0 ? [`it has no lines of ${toDaysList(missing)}${ofOthers}`] : []),
    ...(twice.length > 0 ? [`it has ${isDaily ? toDaysList(twice) : 'its lines'} twice`] : []),
    ...(isOver && last < (all.at(-1) ?? '') ? [`it ends on ${toDate(last)}`] : []),
  ];
  return texts.length > 0 ? [{ name: 'bill', dollars: 0, text: texts.join(', and ') }] : [];
}

/** Such as `1 November and 3 to 5 November`. */
function toDaysList(days: readonly string[]): string {
  const next = (day: string, step: number) => toDay(Date.parse(day) + step * DAY_MILLISECONDS);
  const starts = days.filter((day) => !days.includes(next(day, -1)));
  const ends = days.filter((day) => !days.includes(next(day, 1)));
  const spans = starts.map((from, index) =>
    toSpan(from, ends[index] ?? from).replace(/^(on|from) /, ''),
  );
  return [spans.slice(0, -1).join(', '), ...spans.slice(-1)]
    .filter((one) => one !== '')
    .join(' and ');
}

function toSpan(from: string, to: string): string {
  return from === to ? `on ${toDate(from)}` : `from ${Number(from.slice(8))} to ${toDate(to)}`;
}

const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });
export const toDate = (day: string) => date.format(Date.parse(day));
const monthFormat = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
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

export const capitalize = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
