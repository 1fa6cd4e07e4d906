import { toColumns, writeOut } from '../../cli/output.ts';
import { UsageError } from '../../cli/usage.ts';
import { toAmount } from '../../costs/bills/usage.ts';
import { toTags } from '../../stages/resourceNames.ts';
import { type CostOptions, parsePercent, parsePricedStage, readTraffic } from './costOptions.ts';
import {
  DAY_MILLISECONDS,
  type DayRange,
  parseDayRange,
  splitByMonth,
  toDay,
  toMonth,
} from './dayRange.ts';
import { type ExpectedUsage, toExpectedUsage } from './expectedUsage.ts';
import { type BilledLine, readExport } from './readExport.ts';

/** Prints whether AWS charged what the model expects for the same time, and compares both. Status 1 if it did not. */
export async function runReconcile(files: readonly string[], options: CostOptions<'reconcile'>) {
  const stage = parsePricedStage(options.stage);
  const account = options.account ?? stage.settings.account;
  const tolerance = parsePercent('--tolerance', options.tolerance);
  const isAll = options.from === undefined && options.to === undefined;
  const days = isAll ? undefined : parseDayRange(options);
  const packed = files.find((file) => /\.zip$/i.test(file));
  if (packed) {
    throw new UsageError(`${packed} is a ZIP archive: unpack it, and name the files in it.`);
  }
  const expected = toExpectedUsage(stage, readTraffic(options));
  const bill = await readBill(files, toTags(stage), expected, account, days);
  const found = reconcile(bill, tolerance);
  await writeOut(`${options.json ? JSON.stringify(found, null, 2) : toText(found)}\n`);
  if (!found.agrees) process.exitCode = 1;
}

export type Reconciliation = ReturnType<typeof reconcile>;

/** Compares a bill with the expected costs of as many months. */
function reconcile({ rows, covered, ...bill }: Bill, tolerance: number) {
  const months = covered.flatMap(splitByMonth).reduce((sum, { share }) => sum + share, 0);
  const compareAll = (list: BilledUsage['list']) =>
    rows.filter((row) => row.list === list).map((row) => compare(row, months));
  const usage = compareAll('usage');
  // An unknown line is expected to cost nothing.
  const differences = usage
    .filter(({ difference, expected }) => {
      return Math.abs(difference) > Math.max(0.01, (tolerance / 100) * expected.dollars);
    })
    .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference));
  const foreign = bill.currencies.filter((one) => one !== 'USD' && one !== '').join(' and ');
  const agrees = foreign === '' && bill.problems.length + differences.length === 0;
  const charged = foreign
    ? `The bill is in ${foreign}: it cannot be compared with a model in USD.`
    : toVerdict(usage, differences, agrees, tolerance);
  return {
    verdict: [...bill.problems, charged].join(' '),
    agrees,
    ...{ ...bill, months, usage },
    days: covered.map(({ from, end }) => ({ from: toDay(from), to: toDay(end - 1) })),
    /** Not in the total; lines that AWS does not tag are of the whole account. */
    outside: compareAll('outside'),
  };
}

type Row = ReturnType<typeof compare>;

/** A usage type as billed and as expected, with the differences in per cent of the expected. */
function compare({ usageType, unit, monthly, billed }: BilledUsage, months: number) {
  const expected = { quantity: monthly.quantity * months, dollars: monthly.dollars * months };
  return {
    ...{ usageType, unit, billed, expected },
    /** In dollars. */
    difference: billed.dollars - expected.dollars,
    differencePercent: {
      quantity: toPercent(billed.quantity, expected.quantity),
      /** Of a unit's price. */
      price: toPercent(billed.dollars / billed.quantity, expected.dollars / expected.quantity),
      dollars: toPercent(billed.dollars, expected.dollars),
    },
  };
}

/** Undefined if nothing was billed or nothing was expected. */
function toPercent(billed: number, expected: number): number | undefined {
  const percent = (100 * (billed - expected)) / expected;
  return Number.isFinite(percent) ? percent : undefined;
}

/** One sentence on the line that differs most, and on the total. */
function toVerdict(
  all: readonly Row[],
  [most, ...others]: readonly Row[],
  agrees: boolean,
  tolerance: number,
) {
  const sums = (['billed', 'expected'] as const).map((name) =>
    toDollarText(all.reduce((sum, row) => sum + row[name].dollars, 0)),
  );
  if (!most) {
    return agrees
      ? `AWS charged what was expected: ${sums.join(' of ')}, each line within ${tolerance} % or a cent.`
      : `AWS charged ${sums.join(' in all, ')} expected.`;
  }
  const { difference, usageType, differencePercent } = most;
  const percent = Math.abs(differencePercent.dollars ?? 0).toFixed(1);
  const found =
    differencePercent.dollars === undefined
      ? `${toDollarText(difference)} for ${usageType}, which was not expected`
      : `${toDollarText(Math.abs(difference))} (${percent} %) ${difference > 0 ? 'more' : 'less'} than expected for ${usageType}`;
  const rest = others.length > 0 ? ` (other lines that differ: ${others.length})` : '';
  return `AWS charged ${found}${rest}: ${sums.join(' in all, ')} expected.`;
}

function toText(found: Reconciliation): string {
  const days = found.days.map(({ from, to }) => `${from} to ${to}`).join(', ');
  return [
    [
      found.verdict,
      `Expected for ${found.months.toFixed(2)} months (${days}), account ${found.account}${found.currencies.includes('') ? ', in USD since the files name no currency' : ''}`,
      ...Object.entries(found.leftOut).map(
        ([account, dollars]) => `Left out: account ${account}, ${toDollarText(dollars)}`,
      ),
    ].join('\n'),
    toTable(found.usage),
    `Outside the total\n${toTable(found.outside)}`,
  ].join('\n\n');
}

function toTable(rows: readonly Row[]): string {
  return toColumns([
    [
      ...['usage type', 'unit', 'billed', 'expected', 'quantity', 'price'],
      ...['billed $', 'expected $', 'dollars'],
    ],
    ...rows.map(({ usageType, unit, billed, expected, differencePercent: percent }) => [
      ...[usageType, unit, toAmount(billed.quantity), toAmount(expected.quantity)],
      ...[toPercentText(percent.quantity), toPercentText(percent.price)],
      ...[billed.dollars.toFixed(2), expected.dollars.toFixed(2), toPercentText(percent.dollars)],
    ]),
  ]);
}

/** Such as `-$3.00`. */
function toDollarText(dollars: number): string {
  return `${dollars < 0 ? '-' : ''}$${Math.abs(dollars).toFixed(2)}`;
}

function toPercentText(percent: number | undefined): string {
  if (percent === undefined) return '-';
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`;
}

type Amount = Pick<BilledLine, 'quantity' | 'dollars'>;

/** The bill of one usage type, and the model's month of it. */
interface BilledUsage {
  /** The stage's usage; or outside the total, such as credits, refunds, taxes and untaggable usage. */
  readonly list: 'usage' | 'outside';
  /** If the model does not have it, with kind and service, such as `Request-ARM (Credit) of AWSLambda`. */
  readonly usageType: string;
  readonly unit: string;
  readonly monthly: Amount;
  readonly billed: Amount;
}

type Bill = Awaited<ReturnType<typeof readBill>>;

/** Adds up the lines of one account, for some days or all. Memory grows only with the usage types and the stage's lines. */
async function readBill(
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

/** The billed days of each month, and what is wrong with them. Without typed days, each month must be whole. */
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
