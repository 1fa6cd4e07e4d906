import { toColumns, writeResult } from '../../cli/output.ts';
import { sumOf, toAmount } from '../../costs/bills/usage.ts';
import {
  type CostOptions,
  DAY_MILLISECONDS,
  type DayRange,
  parseDayRange,
  readTraffic,
  splitByMonth,
  toDay,
  toMonth,
  toPricedStage,
  withRegion,
} from '../../costs/costOptions.ts';
import { toTags } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import { type ExpectedUsage, toExpectedUsage } from './expectedUsage.ts';
import { type BilledLine, readExport } from './readExport.ts';

/** Prints whether AWS charged what the model expects for the same time, and compares both. Status 1 if it did not. */
export async function runReconcile(files: readonly string[], options: CostOptions<'reconcile'>) {
  const stage = withRegion(options.stage);
  const isAll = options.from === undefined && options.to === undefined;
  const days = isAll ? undefined : parseDayRange(options);
  const traffic = readTraffic(options);
  const expected = toExpectedUsage(await toPricedStage(stage), traffic);
  const bill = await readBill(files, stage, expected, days);
  const found = reconcile(bill, expected);
  await writeResult(options, found, toText(found));
  if (!found.agrees) process.exitCode = 1;
}

type Reconciliation = ReturnType<typeof reconcile>;

/** How many per cent a line may differ, besides a cent. */
const TOLERANCE = 5;

/** Compares a bill with the expected costs of as many months. */
function reconcile({ lines, covered, ...bill }: Bill, expected: readonly ExpectedUsage[]) {
  const months = sumOf(covered.flatMap(splitByMonth), ({ share }) => share);
  const compareAll = (isOutside: boolean) => {
    const own = lines.filter((line) => line.isOutside === isOutside);
    const byType = Map.groupBy(own, ({ usageType }) => usageType);
    const known = expected.filter(({ isTagged }) => isTagged !== isOutside);
    // An unknown line is expected to cost nothing.
    const unknown = [...byType.keys()]
      .filter((usageType) => !known.some((one) => one.usageType === usageType))
      .map((usageType) => ({ usageType, unit: '', quantity: 0, dollars: 0 }));
    return [...known, ...unknown].map((one) => compare(one, byType.get(one.usageType), months));
  };
  const usage = compareAll(false);
  const differences = usage
    .filter(({ difference, expected: { dollars } }) => {
      return Math.abs(difference) > Math.max(0.01, (TOLERANCE / 100) * dollars);
    })
    .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference));
  const foreign = bill.currencies.filter((one) => one !== 'USD').join(' and ');
  const agrees = foreign === '' && bill.problems.length + differences.length === 0;
  const charged = foreign
    ? `The bill is in ${foreign}: it cannot be compared with a model in USD.`
    : toVerdict(usage, differences, agrees);
  return {
    verdict: [...bill.problems, charged].join(' '),
    agrees,
    ...{ ...bill, months, usage },
    days: covered.map(({ from, end }) => ({ from: toDay(from), to: toDay(end - 1) })),
    /** Not in the total; lines that AWS does not tag are of the whole account. */
    outside: compareAll(true),
  };
}

type Row = ReturnType<typeof compare>;

function compare(
  { usageType, unit, ...month }: Pick<ExpectedUsage, 'usageType' | 'unit'> & Amount,
  lines: readonly Amount[] = [],
  months: number,
) {
  const expected = { quantity: month.quantity * months, dollars: month.dollars * months };
  const billed = {
    quantity: sumOf(lines, ({ quantity }) => quantity),
    dollars: sumOf(lines, ({ dollars }) => dollars),
  };
  return { usageType, unit, billed, expected, difference: billed.dollars - expected.dollars };
}

/** Undefined if nothing was billed or nothing was expected. */
function toPercent(billed: number, expected: number): number | undefined {
  const percent = (100 * (billed - expected)) / expected;
  return Number.isFinite(percent) ? percent : undefined;
}

/** One sentence on the line that differs most, and on the total. */
function toVerdict(all: readonly Row[], [most, ...others]: readonly Row[], agrees: boolean) {
  const sums = (['billed', 'expected'] as const).map((name) =>
    toDollarText(sumOf(all, (row) => row[name].dollars)),
  );
  if (!most) {
    return agrees
      ? `AWS charged what was expected: ${sums.join(' of ')}, each line within ${TOLERANCE} % or a cent.`
      : `AWS charged ${sums.join(' in all, ')} expected.`;
  }
  const { difference, usageType, billed, expected } = most;
  const percent = toPercent(billed.dollars, expected.dollars);
  const found =
    percent === undefined
      ? `${toDollarText(difference)} for ${usageType}, which was not expected`
      : `${toDollarText(Math.abs(difference))} (${Math.abs(percent).toFixed(1)} %) ${difference > 0 ? 'more' : 'less'} than expected for ${usageType}`;
  const rest = others.length > 0 ? ` (other lines that differ: ${others.length})` : '';
  return `AWS charged ${found}${rest}: ${sums.join(' in all, ')} expected.`;
}

function toText(found: Reconciliation): string {
  const days = found.days.map(({ from, to }) => `${from} to ${to}`).join(', ');
  return [
    `${found.verdict}\nExpected for ${found.months.toFixed(2)} months (${days}), account ${found.account}`,
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
    ...rows.map(({ usageType, unit, billed, expected }) => [
      ...[usageType, unit, toAmount(billed.quantity), toAmount(expected.quantity)],
      toPercentText(billed.quantity, expected.quantity),
      toPercentText(billed.dollars / billed.quantity, expected.dollars / expected.quantity),
      ...[billed.dollars.toFixed(2), expected.dollars.toFixed(2)],
      toPercentText(billed.dollars, expected.dollars),
    ]),
  ]);
}

/** Such as `-$3.00`. */
function toDollarText(dollars: number): string {
  return `${dollars < 0 ? '-' : ''}$${Math.abs(dollars).toFixed(2)}`;
}

function toPercentText(billed: number, expected: number): string {
  const percent = toPercent(billed, expected);
  if (percent === undefined) return '-';
  const text = percent.toFixed(1).replace('-0.0', '0.0');
  return `${text.startsWith('-') ? '' : '+'}${text} %`;
}

type Amount = Pick<BilledLine, 'quantity' | 'dollars'>;

type Bill = Awaited<ReturnType<typeof readBill>>;

/** Reads the lines of one account, for some days or all. Memory grows only with the stage's lines. */
async function readBill(
  files: readonly string[],
  stage: Stage,
  expected: readonly ExpectedUsage[],
  days?: DayRange,
) {
  const { account } = stage.settings;
  const tags = toTags(stage);
  const lines: ReturnType<typeof assign> = [];
  const accounts = new Set<string>();
  for (const file of files) {
    for await (const line of readExport(file)) {
      if (days && (line.start < days.from || line.start >= days.end)) continue;
      if (account !== undefined && line.account !== account) continue;
      accounts.add(line.account);
      lines.push(...assign(line, tags, expected));
    }
  }
  if (accounts.size > 1) {
    throw new Error(
      `The files have lines of account ${[...accounts].join(' and ')}: set "account" of ${stage.name} in ${stagesFile} to its own.`,
    );
  }
  const own = lines.filter(({ isOwn }) => isOwn);
  const used = own.filter(isUse);
  if (used.length === 0) {
    throw new Error(
      `The files have no line with the tags service "${tags.service}" and stage "${tags.stage}" of these days${account ? ` in account ${account}` : ''}: are they active cost allocation tags?`,
    );
  }
  return {
    account: [...accounts].join(),
    currencies: [...new Set(own.map(({ currency }) => currency))],
    ...checkDays(used, days),
    lines,
  };
}

/**
 * The line under its usage type in the model, if it is of the stage or of no stage. Other types have their kind and
 * service, such as `Request-ARM (Credit) of AWSLambda`.
 */
function assign(
  line: BilledLine,
  tags: ReturnType<typeof toTags>,
  expected: readonly ExpectedUsage[],
) {
  const { stage, service = tags.service } = line.tags;
  const isOwn = stage === tags.stage && service === tags.service;
  const usage = isUse(line) ? expected.find((one) => isOf(line, one)) : undefined;
  // Such as credits, refunds, taxes and untaggable usage.
  const isOutside = usage ? !usage.isTagged : !isUse(line);
  if (!isOwn && !(isOutside && stage === undefined)) return [];
  const kind = isUse(line) ? '' : ` (${line.kind})`;
  const name = `${line.usageType}${kind} of ${line.service}`.trim();
  return [{ ...line, usageType: usage?.usageType ?? name, isOwn, isOutside }];
}

/** The billed days of each month, and what is wrong with them. Without typed days, each month must be whole. */
function checkDays(all: readonly BilledLine[], typed?: DayRange) {
  // In a bill by the day, a line of a whole month does not tell whether a day is missing.
  const short = all.filter(({ start, end }) => end - start <= DAY_MILLISECONDS);
  const lines = [...Map.groupBy(short.length > 0 ? short : all, (one) => JSON.stringify(one))].map(
    ([, [line, ...copies]]) => ({ ...(line as BilledLine), isCopied: copies.length > 0 }),
  );
  const billedMonths = [...new Set(lines.map(({ start }) => toMonth(start).from))].sort();
  const problems: string[] = [];
  const covered = (typed ? splitByMonth(typed) : billedMonths.map(toMonth)).map((month) => {
    const days = Array.from(
      { length: (month.end - month.from) / DAY_MILLISECONDS },
      (_, index) => month.from + index * DAY_MILLISECONDS,
    );
    const find = (day: number) =>
      lines.filter(({ start, end }) => start < day + DAY_MILLISECONDS && end > day);
    const billed = days.filter((day) => find(day).length > 0);
    const [first = 0, last = 0] = [billed[0], billed.at(-1)];
    const whole = typed ? month : { from: first, end: last + DAY_MILLISECONDS };
    const missing = days.filter((day) => day < whole.end && !billed.includes(day));
    if (missing.length > 0) problems.push(`The bill has no lines of ${toDaysText(missing)}.`);
    const twice = billed.filter((day) => find(day).every(({ isCopied }) => isCopied));
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

/** Usage that a Savings Plan covers is billed, and another line subtracts it. */
function isUse({ kind }: BilledLine): boolean {
  return kind === 'Usage' || kind === 'SavingsPlanCoveredUsage';
}

function isOf(line: BilledLine, { service, usageType, alsoNamed }: ExpectedUsage): boolean {
  const isNamed = line.usageType === usageType || alsoNamed?.test(line.usageType) === true;
  return isNamed && service.test(line.service);
}
