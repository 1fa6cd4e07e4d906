import { toColumns, writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { toTags } from '../../stages/resourceNames.ts';
import { type ReconcileOptions, readPrices, readTraffic } from './costOptions.ts';
import { type DayRange, parseDayRange, splitByMonth, toMonth } from './dayRange.ts';
import { toModelledUsage } from './modelledUsage.ts';
import { readExport } from './readExport.ts';
import { type BilledUsage, type Reconciliation, reconcile } from './reconcile.ts';

/**
 * Prints what was billed beside what the model says of the same time.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the export cannot be read
 */
export async function runReconcile(options: ReconcileOptions): Promise<void> {
  const { reconcile: file = '' } = options;
  if (file === '') throw new UsageError('--reconcile must name an export of the costs.');
  const stage = parseStage(options.stage);
  const hasDays = options.from !== undefined || options.to !== undefined;
  const days = hasDays ? parseDayRange(options) : undefined;
  const modelled = toModelledUsage({
    settings: stage.settings,
    prices: readPrices(options.region, stage).prices,
    traffic: readTraffic(options),
    months: days ? countMonths(days) : 1,
  });
  const { service = '' } = toTags(stage);
  const found = await reconcile(readExport(file, days), modelled, { service, stage: stage.name });
  await writeOut(
    `${options.json ? JSON.stringify(found, null, 2) : toReconciliationText(found)}\n`,
  );
}

/** What is billed by the month is billed by the hour: of each month, the part that the days are. */
function countMonths(days: DayRange): number {
  return splitByMonth(days).reduce((sum, part) => {
    const month = toMonth(part.from);
    return sum + (part.end - part.from) / (month.end - month.from);
  }, 0);
}

/** Of what is not the service's, more usage types than these are summed up. */
const MAX_OTHERS = 10;

/** For people: what the model explains, what it does not, and what is not the service's. */
function toReconciliationText({ usage, unexplained, others }: Reconciliation): string {
  const head = [
    ...['USAGE TYPE', 'UNIT', 'BILLED', 'MODELLED', 'QUANTITY ERROR', 'PRICE ERROR'],
    ...['BILLED $', 'MODELLED $', 'DOLLARS ERROR'],
  ];
  const rows = usage.map((row) => [
    row.usageType,
    row.unit,
    toQuantity(row.billed.quantity),
    toQuantity(row.modelled.quantity),
    toPercent(row.quantityError),
    toPercent(row.priceError),
    row.billed.dollars.toFixed(2),
    row.modelled.dollars.toFixed(2),
    toPercent(row.dollarsError),
  ]);
  const billed = usage.reduce((sum, row) => sum + row.billed.dollars, 0);
  const modelled = usage.reduce((sum, row) => sum + row.modelled.dollars, 0);
  const error = billed > 0 ? (100 * (modelled - billed)) / billed : undefined;
  const total = [
    ...['all of these', '', '', '', '', ''],
    ...[billed.toFixed(2), modelled.toFixed(2), toPercent(error)],
  ];
  return [
    toColumns([head, ...rows, total]),
    toList('Not explained', unexplained, unexplained.length),
    toList('Not this service', others, MAX_OTHERS),
  ].join('\n\n');
}

/** Without what cost nothing. */
function toList(title: string, all: readonly BilledUsage[], most: number): string {
  const usage = all.filter(({ dollars }) => dollars !== 0);
  const sum = (of: readonly BilledUsage[]) => of.reduce((total, { dollars }) => total + dollars, 0);
  const heading = `${title}: $${sum(usage).toFixed(2)}`;
  const rest = usage.slice(most);
  const rows = [
    ...usage
      .slice(0, most)
      .map(({ service, usageType, quantity, dollars }) => [
        `  ${service}`,
        usageType,
        toQuantity(quantity),
        `$${dollars.toFixed(2)}`,
      ]),
    ...(rest.length > 0 ? [[`  ${rest.length} others`, '', '', `$${sum(rest).toFixed(2)}`]] : []),
  ];
  return rows.length > 0 ? `${heading}\n${toColumns(rows)}` : heading;
}

function toQuantity(quantity: number): string {
  return quantity.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

function toPercent(error: number | undefined): string {
  if (error === undefined) return '-';
  return `${error < 0 ? '' : '+'}${error.toFixed(1)} %`;
}
