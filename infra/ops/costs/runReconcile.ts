import { toColumns, writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { toTags } from '../../stages/resourceNames.ts';
import { type ReconcileOptions, readPrices, readTraffic } from './costOptions.ts';
import { type DayRange, parseDayRange, splitByMonth, toMonth } from './dayRange.ts';
import { readExport } from './readExport.ts';
import {
  type BilledUsage,
  type Reconciliation,
  reconcile,
  toError,
  toModelledUsage,
} from './reconcile.ts';

/**
 * Prints what was billed beside what the model says of the same time.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the export cannot be read
 */
export async function runReconcile(options: ReconcileOptions): Promise<void> {
  const { reconcile: file = '', from, to, json } = options;
  if (file === '') throw new UsageError('--reconcile must name an export of the costs.');
  const stage = parseStage(options.stage);
  const days = from === undefined && to === undefined ? undefined : parseDayRange({ from, to });
  const modelled = toModelledUsage({
    settings: stage.settings,
    prices: readPrices(options.region, stage).prices,
    traffic: readTraffic(options),
    months: days ? countMonths(days) : 1,
  });
  const found = await reconcile(readExport(file, days), modelled, toTags(stage));
  await writeOut(`${json ? JSON.stringify(found, null, 2) : toReconciliationText(found)}\n`);
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
  const rows = usage.map(({ usageType, unit, billed, modelled, ...errors }) => [
    usageType,
    unit,
    toQuantity(billed.quantity),
    toQuantity(modelled.quantity),
    toPercent(errors.quantityError),
    toPercent(errors.priceError),
    billed.dollars.toFixed(2),
    modelled.dollars.toFixed(2),
    toPercent(errors.dollarsError),
  ]);
  const billed = sumBilled(usage.map((row) => row.billed));
  const modelled = sumBilled(usage.map((row) => row.modelled));
  const total = [
    ...['all of these', '', '', '', '', ''],
    ...[billed.toFixed(2), modelled.toFixed(2), toPercent(toError(modelled, billed))],
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
  const toRow = ({ service, usageType, quantity, dollars }: BilledUsage) => [
    `  ${service}`,
    usageType,
    toQuantity(quantity),
    `$${dollars.toFixed(2)}`,
  ];
  const rest = usage.slice(most);
  const rows = usage.slice(0, most).map(toRow);
  if (rest.length > 0) {
    rows.push([`  ${rest.length} others`, '', '', `$${sumBilled(rest).toFixed(2)}`]);
  }
  const heading = `${title}: $${sumBilled(usage).toFixed(2)}`;
  return rows.length > 0 ? `${heading}\n${toColumns(rows)}` : heading;
}

function sumBilled(amounts: readonly { readonly dollars: number }[]): number {
  return amounts.reduce((sum, { dollars }) => sum + dollars, 0);
}

function toQuantity(quantity: number): string {
  return quantity.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}

function toPercent(error: number | undefined): string {
  if (error === undefined) return '-';
  return `${error < 0 ? '' : '+'}${error.toFixed(1)} %`;
}
