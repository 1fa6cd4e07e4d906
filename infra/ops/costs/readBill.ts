import { DAY_MILLISECONDS, type DayRange, splitByMonth, toDay, toMonth } from './dayRange.ts';
import type { ExpectedUsage } from './expectedUsage.ts';
import { type BilledLine, readExport } from './readExport.ts';

type Amount = Pick<BilledLine, 'quantity' | 'dollars'>;

/** The bill of one usage type, and the model's month of it. */
export interface BilledUsage {
  /** The stage's usage; or outside the total, such as credits, refunds, taxes and untaggable usage. */
  readonly list: 'usage' | 'outside';
  /** If the model does not have it, with kind and service, such as `Request-ARM (Credit) of AWSLambda`. */
  readonly usageType: string;
  readonly unit: string;
  readonly monthly: { readonly quantity: number; readonly dollars: number };
  readonly billed: Amount;
}

export type Bill = Awaited<ReturnType<typeof readBill>>;

/**
 * Adds up the lines of one account, for some days or all. Keeps sums in memory, and the stage's own lines by the day.
 * @throws {Error} when the account is ambiguous, or no line is the stage's
 */
export async function readBill(
  files: readonly string[],
  tags: { readonly service: string; readonly stage: string },
  expected: readonly ExpectedUsage[],
  account?: string,
  days?: DayRange,
) {
  const rows = new Map<string, BilledUsage>();
  for (const { usageType, unit, isTagged, ...monthly } of expected) {
    const list = isTagged ? 'usage' : 'outside';
    rows.set(`${list} ${usageType}`, { list, usageType, unit, monthly, billed: nothing });
  }
  const own = new Map<string, OwnLine>();
  const currencies = new Set<string>();
  const accounts = new Map<string, number>();
  for (const file of files) {
    for await (const line of readExport(file)) {
      if (days && (line.start < days.from || line.start >= days.end)) continue;
      accounts.set(line.account, (accounts.get(line.account) ?? 0) + line.dollars);
      if (account !== undefined && line.account !== account) continue;
      const { stage, service = tags.service } = line.tags;
      const isOwn = stage === tags.stage && service === tags.service;
      if (isOwn) currencies.add(line.currency);
      if (isOwn && isUse(line)) {
        const text = JSON.stringify(line);
        const { start: from, end } = line;
        own.set(text, { from, end, count: (own.get(text)?.count ?? 0) + 1 });
      }
      const usage = isUse(line) ? expected.find((one) => isOf(line, one)) : undefined;
      const isOutside = usage ? !usage.isTagged : !isUse(line);
      if (!isOwn && !(isOutside && stage === undefined)) continue;
      const list = isOutside ? 'outside' : 'usage';
      const kind = isUse(line) ? '' : ` (${line.kind})`;
      const name = `${line.usageType}${kind} of ${line.service}`.trim();
      const usageType = usage?.usageType ?? name;
      const key = `${list} ${usageType}`;
      const row = rows.get(key) ?? { list, usageType, unit: '', monthly: nothing, billed: nothing };
      const quantity = row.billed.quantity + line.quantity;
      const dollars = row.billed.dollars + line.dollars;
      rows.set(key, { ...row, billed: { quantity, dollars } });
    }
  }
  const names = [...accounts.keys()].sort();
  const ownAccount = account ?? names[0] ?? '';
  const isClear = account === undefined ? names.length < 2 : accounts.has(account);
  if (names.length > 0 && !isClear) {
    throw new Error(
      `The files have lines of account ${names.join(' and ')}: --account must name one of them.`,
    );
  }
  if (own.size === 0) {
    throw new Error(
      `The files have no line with the tags service "${tags.service}" and stage "${tags.stage}" of these days: are they active cost allocation tags?`,
    );
  }
  return {
    account: ownAccount,
    /** In dollars, by account. */
    leftOut: Object.fromEntries([...accounts].filter(([name]) => name !== ownAccount)),
    /** Empty if a file does not name it. */
    currencies: [...currencies],
    ...checkDays([...own.values()], days),
    rows: [...rows.values()],
  };
}

/** A line of the stage, and how often the files have it. */
type OwnLine = DayRange & { readonly count: number };

/**
 * The billed days of each month, and what is wrong with them.
 * @param typed without it, each month must be whole
 */
function checkDays(all: readonly OwnLine[], typed?: DayRange) {
  // In a bill by the day, a line of a whole month does not tell whether a day is missing.
  const short = all.filter(({ from, end }) => end - from <= DAY_MILLISECONDS);
  const lines = short.length > 0 ? short : all;
  const billedMonths = [...new Set(lines.map(({ from }) => toMonth(from).from))].sort();
  const problems: string[] = [];
  const covered = (typed ? splitByMonth(typed) : billedMonths.map(toMonth)).map((month) => {
    const days = Array.from(
      { length: (month.end - month.from) / DAY_MILLISECONDS },
      (_, index) => month.from + index * DAY_MILLISECONDS,
    );
    const find = (day: number) =>
      lines.filter(({ from, end }) => from < day + DAY_MILLISECONDS && end > day);
    const billed = days.filter((day) => find(day).length > 0);
    const [first = 0, last = 0] = [billed[0], billed.at(-1)];
    const whole = typed ? month : { from: first, end: last + DAY_MILLISECONDS };
    const missing = days.filter((day) => day < whole.end && !billed.includes(day));
    if (missing.length > 0) problems.push(`The bill has no lines of ${toDaysText(missing)}.`);
    const twice = billed.filter((day) => find(day).every(({ count }) => count > 1));
    if (twice.length > 0) problems.push(`The bill has ${toDaysText(twice)} twice.`);
    if (whole.end < month.end) {
      const [from, to] = [toDay(month.from), toDay(last)];
      problems.push(
        `The bill ends on ${to}, before its month: --from ${from} --to ${to} compares those days.`,
      );
    }
    return whole;
  });
  return { covered, problems };
}

/** Such as `2026-11-01, 2026-11-03 to 2026-11-05`. */
function toDaysText(days: readonly number[]): string {
  const starts = days.filter((day) => !days.includes(day - DAY_MILLISECONDS));
  const ends = days.filter((day) => !days.includes(day + DAY_MILLISECONDS));
  return starts
    .map((from, index) => [...new Set([from, ends[index] ?? from])].map(toDay).join(' to '))
    .join(', ');
}

const nothing: Amount = { quantity: 0, dollars: 0 };

/** Usage that a Savings Plan covers is billed, and another line subtracts it. */
function isUse({ kind }: BilledLine): boolean {
  return kind === 'Usage' || kind === 'SavingsPlanCoveredUsage';
}

function isOf(line: BilledLine, { service, usageType, alsoNamed }: ExpectedUsage): boolean {
  const isNamed = line.usageType === usageType || alsoNamed?.test(line.usageType) === true;
  return isNamed && service.test(line.service);
}
