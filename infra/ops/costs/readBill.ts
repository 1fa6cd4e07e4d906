import { type DayRange, splitByMonth, toDay } from './dayRange.ts';
import type { ExpectedUsage } from './expectedUsage.ts';
import { type BilledLine, readExport } from './readExport.ts';

type Amount = Pick<BilledLine, 'quantity' | 'dollars' | 'effectiveDollars' | 'listDollars'>;

/** The bill of one usage type, and the model's month of it. */
export interface BilledUsage {
  /** The stage's usage; outside the total, such as credits, refunds, taxes and untaggable usage; or anything else. */
  readonly list: 'usage' | 'outside' | 'others';
  /** If the model does not have it, with kind and service, such as `Request-ARM (Credit) of AWSLambda`. */
  readonly usageType: string;
  readonly unit: string;
  readonly monthly: { readonly quantity: number; readonly dollars: number };
  readonly billed: Amount;
}

export type Bill = Awaited<ReturnType<typeof readBill>>;

/**
 * Adds up the lines of one account, for some days or all. Keeps only sums in memory.
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
  const covered = new Map<string, DayRange>();
  const accounts = new Map<string, number>();
  for (const file of files) {
    for await (const line of readExport(file)) {
      if (days && (line.start < days.from || line.start >= days.end)) continue;
      accounts.set(line.account, (accounts.get(line.account) ?? 0) + line.dollars);
      if (account !== undefined && line.account !== account) continue;
      const { stage, service = tags.service } = line.tags;
      const isOwn = stage === tags.stage && service === tags.service;
      if (isOwn && isUse(line)) extend(covered, line);
      const usage = isUse(line) ? expected.find((one) => isOf(line, one)) : undefined;
      const mayBeOwn = isOwn || stage === undefined;
      const isOutside = mayBeOwn && (usage ? !usage.isTagged : !isUse(line));
      const list = isOutside ? 'outside' : isOwn ? 'usage' : 'others';
      const kind = isUse(line) ? '' : ` (${line.kind})`;
      const name = `${line.usageType}${kind} of ${line.service}`.trim();
      const usageType = usage && list !== 'others' ? usage.usageType : name;
      const key = `${list} ${usageType}`;
      const row = rows.get(key) ?? { list, usageType, unit: '', monthly: nothing, billed: nothing };
      rows.set(key, { ...row, billed: add(row.billed, line) });
    }
  }
  const names = [...accounts.keys()].sort();
  const own = account ?? names[0] ?? '';
  const isClear = account === undefined ? names.length <= 1 : accounts.has(account);
  if (names.length > 0 && !isClear) {
    throw new Error(
      `The files have lines of account ${names.join(' and ')}: --account must name one of them.`,
    );
  }
  if (covered.size === 0) {
    throw new Error(
      `The files have no line with the tags service "${tags.service}" and stage "${tags.stage}" of these days: are they active cost allocation tags?`,
    );
  }
  return {
    account: own,
    /** In dollars, by account. */
    leftOut: Object.fromEntries([...accounts].filter(([name]) => name !== own)),
    /** The billed days of each month. */
    covered: days ? splitByMonth(days) : [...covered.values()].sort((a, b) => a.from - b.from),
    rows: [...rows.values()],
  };
}

/** The days of a month from the start of the first line to the end of the last. */
function extend(covered: Map<string, DayRange>, { start, end }: BilledLine): void {
  const month = toDay(start).slice(0, 7);
  const known = covered.get(month) ?? { from: start, end };
  covered.set(month, { from: Math.min(known.from, start), end: Math.max(known.end, end) });
}

const nothing: Amount = { quantity: 0, dollars: 0, effectiveDollars: 0, listDollars: 0 };

function add(one: Amount, other: Amount): Amount {
  return {
    quantity: one.quantity + other.quantity,
    dollars: one.dollars + other.dollars,
    effectiveDollars: one.effectiveDollars + other.effectiveDollars,
    listDollars: one.listDollars + other.listDollars,
  };
}

/** Usage that a Savings Plan covers is billed, and another line subtracts it. */
function isUse({ kind }: BilledLine): boolean {
  return kind === 'Usage' || kind === 'SavingsPlanCoveredUsage';
}

function isOf(line: BilledLine, { service, usageType, alsoNamed }: ExpectedUsage): boolean {
  const isNamed = line.usageType === usageType || alsoNamed?.test(line.usageType) === true;
  return isNamed && service.test(line.service);
}
