import { writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { toTags } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { type DayRange, parseDayRange, splitByMonth, toMonth } from '../byKey/dayRange.ts';
import { readFixedUnits } from '../model/fixedCosts.ts';
import { NoSuchAnswer } from '../model/monthlyBill.ts';
import { readPrices } from '../options/regionOption.ts';
import { readTraffic, type TrafficOptions } from '../options/trafficOptions.ts';
import { warnOfOldPrices } from '../prices/oldPrices.ts';
import { readRecordedUnits } from '../units/recordedUnits.ts';
import type { BilledLine } from './billedLine.ts';
import type { ModelledUsage } from './modelledUsage.ts';
import { readExport } from './readExport.ts';
import { reconcile } from './reconcile.ts';
import { toReconciliationText } from './reconciliationText.ts';
import { toModelledUsage } from './toModelledUsage.ts';

/** As typed. */
export interface ReconcileOptions extends TrafficOptions {
  /** The export. */
  readonly reconcile?: string | undefined;
  readonly stage?: string | undefined;
  readonly region?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly json?: boolean | undefined;
}

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
  const modelled = toModelled(stage, options, days);
  const lines = days ? ofDays(readExport(file, true), days) : readExport(file, false);
  const { service = '' } = toTags(stage);
  const found = await reconcile(lines, modelled, { service, stage: stage.name });
  await writeOut(
    `${options.json ? JSON.stringify(found, null, 2) : toReconciliationText(found)}\n`,
  );
}

function toModelled(
  stage: Stage,
  options: ReconcileOptions,
  days: DayRange | undefined,
): ModelledUsage[] {
  const { prices } = readPrices(options.region, stage);
  warnOfOldPrices(prices, new Date());
  try {
    return toModelledUsage({
      stage,
      prices,
      traffic: readTraffic(options),
      recorded: readRecordedUnits(),
      fixed: readFixedUnits()[stage.name],
      months: days ? countMonths(days) : 1,
    });
  } catch (error) {
    throw error instanceof NoSuchAnswer ? new UsageError(error.message) : error;
  }
}

/** What is billed by the month is billed by the hour: of each month, the part that the days are. */
function countMonths(days: DayRange): number {
  return splitByMonth(days).reduce((sum, part) => {
    const month = toMonth(part.from);
    return sum + (part.end - part.from) / (month.end - month.from);
  }, 0);
}

async function* ofDays(
  lines: AsyncIterable<readonly BilledLine[]>,
  { from, end }: DayRange,
): AsyncGenerator<BilledLine[]> {
  for await (const some of lines) {
    yield some.filter(({ start = from }) => start >= from && start < end);
  }
}
