import { toColumns, writeOut } from '../../cli/output.ts';
import { UsageError } from '../../cli/usage.ts';
import { toAmount } from '../../costs/bills/usage.ts';
import { toTags } from '../../stages/resourceNames.ts';
import { type CostOptions, parsePercent, parsePricedStage, readTraffic } from './costOptions.ts';
import { parseDayRange, splitByMonth, toDay } from './dayRange.ts';
import { toExpectedUsage } from './expectedUsage.ts';
import { type Bill, type BilledUsage, readBill } from './readBill.ts';

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

/**
 * Compares a bill with the expected costs of as many months.
 * @param tolerance by how many per cent a line may differ from what is expected
 */
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
  if (!most && !agrees) return `AWS charged ${sums.join(' in all, ')} expected.`;
  if (!most) {
    return `AWS charged what was expected: ${sums.join(' of ')}, each line within ${tolerance} % or a cent.`;
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
