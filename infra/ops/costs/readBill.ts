import { type DayRange, splitByMonth, toDay } from './dayRange.ts';
import type { ExpectedUsage } from './expectedUsage.ts';
import { type BilledLine, readExport } from './readExport.ts';

export interface Amount {
  readonly quantity: number;
  readonly dollars: number;
  /** As FOCUS has them beside what is billed. */
  readonly effectiveDollars?: number | undefined;
  readonly listDollars?: number | undefined;
}

/** What was billed under one usage type; with what it is, where it is no use, such as `(Credit)`. */
export interface BilledUsage extends Amount {
  readonly service: string;
  readonly usageType: string;
}

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
 * @throws {Error} when the lines are of several accounts and none is asked for, or none is the stage's
 */
export async function readBill(
  files: readonly string[],
  { days, account, tags, expected }: Compared,
) {
  const billed = new Map<ExpectedUsage, Amount>();
  const [unexpected, outside, others] = [1, 2, 3].map(() => new Map<string, BilledUsage>()) as Sums;
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
      if (usage && (isOwn || (isUntagged && usage.isTagged === false))) {
        billed.set(usage, addAmount(billed.get(usage), line));
      } else if (isUse(line) ? isOwn && isKeptLog(line) : isOwn || isUntagged) {
        addLine(outside, line);
      } else addLine(isOwn ? unexpected : others, line);
    }
  }
  const names = [...accounts.keys()].sort();
  checkAccounts(names, account);
  if (covered.size === 0) {
    throw new Error(
      `In the files, no line has the tags service "${tags.service}" and stage "${tags.stage}": are they active cost allocation tags?`,
    );
  }
  const own = account ?? names[0];
  return {
    account: own,
    /** The days that are billed, of each month. */
    covered: (days ? splitByMonth(days) : [...covered.values()]).toSorted(
      (one, other) => one.from - other.from,
    ),
    billed,
    /** The stage's use, of which the model knows nothing; as all lists, the most expensive first. */
    unexpected: sort(unexpected),
    /** Of the stage, or of nobody: kept logs, and what is no use, such as credits, refunds and taxes. */
    outside: sort(outside),
    /** Of other services, of other stages, or without a tag. */
    others: sort(others),
    leftOut: names
      .filter((name) => name !== own)
      .map((name) => ({ account: name, dollars: accounts.get(name) ?? 0 })),
  };
}

type Sums = [Map<string, BilledUsage>, Map<string, BilledUsage>, Map<string, BilledUsage>];

/** @throws {Error} when it is not clear whose lines are meant, or there are none */
function checkAccounts(found: readonly string[], account: string | undefined): void {
  if (account === undefined && found.length > 1) {
    throw new Error(
      `The files have lines of several accounts, ${found.join(' and ')}: add --account of the one that is meant.`,
    );
  }
  if (account !== undefined && !found.includes(account)) {
    throw new Error(
      `In the files, no line is of account ${account}; there are ${found.join(' and ')}.`,
    );
  }
}

/** Of a month, the days from the first line's beginning to the last one's end. */
function extend(covered: Map<string, DayRange>, { start, end }: BilledLine): void {
  const month = toDay(start).slice(0, 7);
  const known = covered.get(month) ?? { from: start, end };
  covered.set(month, { from: Math.min(known.from, start), end: Math.max(known.end, end) });
}

function addLine(sums: Map<string, BilledUsage>, line: BilledLine): void {
  const { service, kind } = line;
  const usageType = isUse(line) ? line.usageType : `${line.usageType} (${kind})`.trim();
  const key = `${service}\n${usageType}`;
  sums.set(key, { service, usageType, ...addAmount(sums.get(key), line) });
}

const none: Amount = { quantity: 0, dollars: 0 };
function addAmount(sum: Amount = none, line: Amount): Amount {
  const add = (one?: number, other?: number) => (other === undefined ? one : (one ?? 0) + other);
  return {
    quantity: sum.quantity + line.quantity,
    dollars: sum.dollars + line.dollars,
    effectiveDollars: add(sum.effectiveDollars, line.effectiveDollars),
    listDollars: add(sum.listDollars, line.listDollars),
  };
}

function sort(sums: ReadonlyMap<string, BilledUsage>): BilledUsage[] {
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

/** The model counts what logs take in, and not how long they are kept. */
function isKeptLog({ service, usageType }: BilledLine): boolean {
  return /cloudwatch/i.test(service) && usageType === 'TimedStorage-ByteHrs';
}
