import { type DayRange, splitByMonth, toDay } from './dayRange.ts';
import type { ExpectedUsage } from './expectedUsage.ts';
import { type BilledLine, readExport } from './readExport.ts';

export type Amount = Pick<BilledLine, 'quantity' | 'dollars' | 'effectiveDollars' | 'listDollars'>;

/** What was billed under one usage type; with what it is, where it is no use, such as `(Credit)`. */
type BilledUsage = Amount & Pick<BilledLine, 'service' | 'usageType'>;
type Sums = Map<string, BilledUsage>;

/** Which lines of an export are compared. */
interface Compared {
  /** All that the files have, where it is left out. */
  readonly days: DayRange | undefined;
  readonly account: string | undefined;
  readonly tags: { readonly service: string; readonly stage: string };
  readonly expected: readonly ExpectedUsage[];
}

export type Bill = Awaited<ReturnType<typeof readBill>>;

/**
 * Adds up the lines of some days and of one account. Only sums are kept of them.
 * @throws {Error} when it is not clear which account is meant, or no line is the stage's
 */
export async function readBill(
  files: readonly string[],
  { days, account, tags, expected }: Compared,
) {
  const billed = new Map<ExpectedUsage, Amount>();
  const unexpected: Sums = new Map();
  const outside: Sums = new Map();
  const others: Sums = new Map();
  const covered = new Map<string, DayRange>();
  const accounts = new Map<string, number>();
  for (const file of files) {
    for await (const line of readExport(file)) {
      if (days && (line.start < days.from || line.start >= days.end)) continue;
      accounts.set(line.account, (accounts.get(line.account) ?? 0) + line.dollars);
      if (account !== undefined && line.account !== account) continue;
      const { stage, service = tags.service } = line.tags;
      const isOwn = stage === tags.stage && service === tags.service;
      const isUntagged = stage === undefined;
      const usage = isUse(line) ? expected.find((one) => isOf(line, one)) : undefined;
      if (isOwn && isUse(line)) extend(covered, line);
      if (usage && (isOwn || (isUntagged && !usage.isTagged))) {
        billed.set(usage, addAmount(billed.get(usage), line));
      } else if (!isUse(line) && (isOwn || isUntagged)) addLine(outside, line);
      else addLine(isOwn ? unexpected : others, line);
    }
  }
  const names = [...accounts.keys()].sort();
  const own = account ?? names[0] ?? '';
  if (!accounts.has(own) || (account === undefined && names.length > 1)) {
    throw new Error(
      `The files have lines of account ${names.join(' and ')}: --account must name one of them.`,
    );
  }
  if (covered.size === 0) {
    throw new Error(
      `The files have no line with the tags service "${tags.service}" and stage "${tags.stage}": are they active cost allocation tags?`,
    );
  }
  return {
    account: own,
    /** In dollars, by account. */
    leftOut: Object.fromEntries([...accounts].filter(([name]) => name !== own)),
    /** The days that are billed, of each month. */
    covered: days ? splitByMonth(days) : [...covered.values()].sort((a, b) => a.from - b.from),
    billed,
    /** The stage's use, of which the model knows nothing; as all lists, the most expensive first. */
    unexpected: sort(unexpected),
    /** Of the stage, or without a tag: what is no use, such as credits, refunds and taxes. */
    outside: sort(outside),
    /** Of other services, of other stages, or without a tag. */
    others: sort(others),
  };
}

/** Of a month, the days from the first line's beginning to the last one's end. */
function extend(covered: Map<string, DayRange>, { start, end }: BilledLine): void {
  const month = toDay(start).slice(0, 7);
  const known = covered.get(month) ?? { from: start, end };
  covered.set(month, { from: Math.min(known.from, start), end: Math.max(known.end, end) });
}

function addLine(sums: Sums, line: BilledLine): void {
  const { service, kind } = line;
  const usageType = isUse(line) ? line.usageType : `${line.usageType} (${kind})`.trim();
  const key = `${service}\n${usageType}`;
  sums.set(key, { service, usageType, ...addAmount(sums.get(key), line) });
}

export const nothing: Amount = { quantity: 0, dollars: 0, effectiveDollars: 0, listDollars: 0 };

function addAmount(sum: Amount = nothing, line: Amount): Amount {
  return {
    quantity: sum.quantity + line.quantity,
    dollars: sum.dollars + line.dollars,
    effectiveDollars: sum.effectiveDollars + line.effectiveDollars,
    listDollars: sum.listDollars + line.listDollars,
  };
}

function sort(sums: Sums): BilledUsage[] {
  return [...sums.values()].sort((one, other) => other.dollars - one.dollars);
}

/** What a Savings Plan covers is billed as use, and taken off by a line of its own. */
function isUse({ kind }: BilledLine): boolean {
  return kind === 'Usage' || kind === 'SavingsPlanCoveredUsage';
}

function isOf(line: BilledLine, { service, usageType, alsoNamed }: ExpectedUsage): boolean {
  const isNamed = line.usageType === usageType || alsoNamed?.test(line.usageType) === true;
  return isNamed && service.test(line.service);
}
