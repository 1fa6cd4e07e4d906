import { toColumns, writeOut } from '../../cli/output.ts';
import { parseStage, toRegion } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { pricedRegions } from '../../costs/prices.ts';
import { toTags } from '../../stages/resourceNames.ts';
import { type CostOptions, readTraffic, warnOfPrices } from './costOptions.ts';
import { parseDayRange, splitByMonth, toDay } from './dayRange.ts';
import { type ExpectedUsage, toExpectedUsage } from './expectedUsage.ts';
import { type Amount, type Bill, type BilledUsage, readBill } from './readBill.ts';

/**
 * Prints whether AWS charged what the model says of the same time, and both beside each other. Status 1 where a
 * line differs by more than is tolerated.
 * @param files the exports
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when an export cannot be read, or has nothing to compare
 */
export async function runReconcile(files: readonly string[], options: CostOptions): Promise<void> {
  const stage = parseStage(options.stage ?? 'production');
  const account = parseAccount(options.account) ?? stage.settings.account;
  const tolerance = parseTolerance(options.tolerance);
  const isAll = options.from === undefined && options.to === undefined;
  const days = isAll ? undefined : parseDayRange(options);
  const packed = files.find((file) => /\.zip$/i.test(file));
  if (packed) {
    throw new UsageError(`${packed} is a ZIP archive: unpack it, and name the files in it.`);
  }
  const traffic = options['from-logs']
    ? await (await import('./logTraffic.ts')).readLogTraffic(options)
    : readTraffic(options);
  if (!traffic) return;
  warnOfPrices(toRegion(stage).region ?? pricedRegions[0]);
  const expected = toExpectedUsage(stage.settings, traffic);
  const bill = await readBill(files, { days, account, tags: toTags(stage), expected });
  const found = reconcile(bill, expected, tolerance);
  await writeOut(`${options.json ? JSON.stringify(found, null, 2) : toText(found)}\n`);
  if (!found.agrees) process.exitCode = 1;
}

/** @throws {UsageError} when it is no account's id */
function parseAccount(text: string | undefined): string | undefined {
  if (text === undefined || /^\d{12}$/.test(text)) return text;
  throw new UsageError(`--account must have 12 digits; it is "${text}".`);
}

/** @throws {UsageError} when it is no percentage */
function parseTolerance(text = '5%'): number {
  const [, percent] = /^(\d+(?:\.\d+)?)%?$/.exec(text) ?? [];
  if (percent !== undefined) return Number(percent);
  throw new UsageError(`--tolerance must be such as 5%; it is "${text}".`);
}

export type Reconciliation = ReturnType<typeof reconcile>;

/**
 * Holds a bill against what is expected of as many months.
 * @param monthly what the model has of one month
 * @param tolerance by how many per cent a line may differ from what is expected
 */
function reconcile(
  { billed, covered, ...bill }: Bill,
  monthly: readonly ExpectedUsage[],
  tolerance: number,
) {
  const months = covered
    .flatMap((range) => splitByMonth(range))
    .reduce((sum, { share }) => sum + share, 0);
  const rows = monthly.map((expected) => compare(expected, months, billed.get(expected)));
  const usage = rows.filter(({ isTagged }) => isTagged);
  const unexpected = bill.unexpected.map(({ service, usageType, dollars }) => {
    return { name: `${usageType} of ${service}`, billed: { dollars }, expected: { dollars: 0 } };
  });
  const lines = [...usage.map((row) => ({ ...row, name: row.usageType })), ...unexpected];
  const differences = lines
    .filter((line) => differs(line, tolerance))
    .sort((one, other) => Math.abs(toDifference(other)) - Math.abs(toDifference(one)));
  const total = {
    billed: { dollars: sumDollars(lines.map((line) => line.billed)) },
    expected: { dollars: sumDollars(lines.map((line) => line.expected)) },
  };
  const untagged = rows.filter(({ isTagged }) => !isTagged);
  return {
    verdict: toVerdict(differences, total, tolerance),
    agrees: differences.length === 0,
    ...{ ...bill, months, total, usage },
    days: covered.map(({ from, end }) => ({ from: toDay(from), to: toDay(end - 1) })),
    /** Not in the total: as before, and of the whole account what AWS gives no tags, with what the stage's would be. */
    outside: [
      ...untagged.map(({ usageType, billed, expected }) => ({
        ...{ service: '-', usageType, ...billed, expectedDollars: expected.dollars },
      })),
      ...bill.outside,
    ],
  };
}

/** A usage type as billed and as expected, and by how many per cent of what was expected AWS has more. */
function compare(
  { usageType, unit, isTagged = true, ...monthly }: ExpectedUsage,
  months: number,
  billed: Amount = { quantity: 0, dollars: 0 },
) {
  const expected = { quantity: monthly.quantity * months, dollars: monthly.dollars * months };
  const price = billed.quantity > 0 ? billed.dollars / billed.quantity : undefined;
  return {
    ...{ usageType, unit, isTagged, billed, expected },
    differencePercent: {
      quantity: toPercent(billed.quantity, expected.quantity),
      /** Of a unit's price. */
      price: price === undefined ? undefined : toPercent(price, monthly.dollars / monthly.quantity),
      dollars: toPercent(billed.dollars, expected.dollars),
    },
  };
}

function toPercent(billed: number, expected: number): number {
  return (100 * (billed - expected)) / expected;
}

interface Pair {
  readonly billed: { readonly dollars: number };
  readonly expected: { readonly dollars: number };
}

function toDifference({ billed, expected }: Pair): number {
  return billed.dollars - expected.dollars;
}

/** By more than is tolerated of what is expected, which is nothing of an unknown line, and by a cent or more. */
function differs(line: Pair, tolerance: number): boolean {
  const difference = Math.abs(toDifference(line));
  return difference >= 0.01 && difference > (tolerance / 100) * line.expected.dollars;
}

/** One sentence on the line that differs most, and on the total. */
function toVerdict(
  [most, ...others]: readonly (Pair & { readonly name: string })[],
  { billed, expected }: Pair,
  tolerance: number,
): string {
  const sums = [billed, expected].map(({ dollars }) => toDollarText(dollars));
  if (!most) {
    return `AWS charged what was expected: ${sums.join(' of ')}, each line within ${tolerance} % or a cent.`;
  }
  const difference = toDifference(most);
  const dollars = toDollarText(Math.abs(difference));
  const percent = Math.abs(toPercent(most.billed.dollars, most.expected.dollars)).toFixed(1);
  const found =
    most.expected.dollars === 0
      ? `${toDollarText(difference)} for ${most.name}, which nobody expected`
      : `${dollars} (${percent} %) ${difference > 0 ? 'more' : 'less'} than expected for ${most.name}`;
  const rest = others.length > 0 ? `, and more or less for ${others.length} other lines` : '';
  return `AWS charged ${found}${rest}: ${sums.join(' in all, ')} expected.`;
}

/** Of what is not the service's, so many usage types are shown. */
const MAX_OTHERS = 10;

/** For people: the verdict, what is compared, what was not expected, and what is not compared. */
function toText(found: Reconciliation): string {
  const { usage, unexpected, outside, others, leftOut, total } = found;
  const costs = [
    ['effective $', 'effectiveDollars'],
    ['list $', 'listDollars'],
  ] as const;
  const shown = costs.filter(([, cost]) => usage.some(({ billed }) => billed[cost] !== undefined));
  const rows = usage.map(({ usageType, unit, billed, expected, differencePercent: percent }) => [
    ...[usageType, unit, toQuantity(billed.quantity), toQuantity(expected.quantity)],
    ...[toPercentText(percent.quantity), toPercentText(percent.price)],
    ...[billed.dollars.toFixed(2), expected.dollars.toFixed(2), toPercentText(percent.dollars)],
    ...shown.map(([, cost]) => (billed[cost] ?? 0).toFixed(2)),
  ]);
  const head = [
    ...['usage type', 'unit', 'billed', 'expected', 'quantity', 'price'],
    ...['billed $', 'expected $', 'dollars', ...shown.map(([title]) => title)],
  ];
  const days = found.days.map(({ from, to }) => `${from} to ${to}`).join(', ');
  const [billed, expected] = [total.billed.dollars, total.expected.dollars];
  return [
    [
      found.verdict,
      `Expected is what the model has of ${found.months.toFixed(2)} months (${days}), account ${found.account}`,
      ...leftOut.map((one) => `Left out: account ${one.account}, ${toDollarText(one.dollars)}`),
    ].join('\n'),
    toColumns([head, ...rows]),
    `In all: ${toDollarText(billed)} billed, ${toDollarText(expected)} expected, ${toPercentText(toPercent(billed, expected))}`,
    toList('Not expected', unexpected),
    toList('Outside the total', outside),
    toList('Not this service, the most expensive', others.slice(0, MAX_OTHERS)),
  ].join('\n\n');
}

function toList(
  title: string,
  usage: readonly (BilledUsage & { readonly expectedDollars?: number })[],
): string {
  const rows = usage.map(({ service, usageType, quantity, dollars, expectedDollars }) => [
    ...[service, usageType, toQuantity(quantity), toDollarText(dollars)],
    expectedDollars === undefined ? '' : `${toDollarText(expectedDollars)} expected`,
  ]);
  return `${title}: ${toDollarText(sumDollars(usage))}\n${toColumns(rows)}`.trim();
}

function sumDollars(amounts: readonly { readonly dollars: number }[]): number {
  return amounts.reduce((sum, { dollars }) => sum + dollars, 0);
}

function toQuantity(quantity: number): string {
  return quantity.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

/** Such as `-$3.00`. */
function toDollarText(dollars: number): string {
  return `${dollars < 0 ? '-' : ''}$${Math.abs(dollars).toFixed(2)}`;
}

function toPercentText(percent: number | undefined): string {
  if (percent === undefined) return '-';
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`;
}
