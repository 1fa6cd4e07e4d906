import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseStage, stageUsage } from '../cli/stageOption.ts';
import { UsageError } from '../cli/usage.ts';
import { writeOut } from '../cli/writeOut.ts';
import type { Stage } from '../stages/stages.ts';
import { tellChangesSince } from './change/changesSince.ts';
import { readCommittedTraffic } from './change/committedTraffic.ts';
import { NoSuchAnswer } from './model/monthlyBill.ts';
import { warnOfOldPrices } from './prices/oldPrices.ts';
import { defaultRegion, priceTables } from './prices/priceTables.ts';
import { type CostReport, type ReportInput, toCostReport } from './report/costReport.ts';
import {
  toMonthText,
  toOperationsText,
  toSavingsText,
  toWorstMonthText,
} from './report/reportText.ts';
import { parseRequests, parseTraffic, usualEntries } from './traffic/parseTraffic.ts';
import type { Traffic } from './traffic/traffic.ts';
import { measuredSizes } from './units/answers.ts';

const help = `npm run costs [-- options]

Says what the service costs, by a model of it: the units of each request are measured by the tests, the
prices are AWS's list prices without tax. Without options, dollars per million requests.

  ${stageUsage}   whose settings count: memory, tracing, throttles; default: production
  --region REGION      where prices are known: ${Object.keys(priceTables).join(', ')}
  --entries N          for an inventory of that length, and not of several
  --requests LIST      a month's bill for getPet=2M,listInventory:gzip=500k,updateInventory:412=1k
  --traffic FILE       the same from a file: {"entries": 1000, "requests": {"getPet": 2000000}}
  --worst-case         the dearest month that the stage's throttles and concurrency let through
  --diff REV           what has got dearer or cheaper since a commit
  --json               all of it in one document, for a machine to read
`;

const flags = {
  stage: { type: 'string', default: 'production' },
  region: { type: 'string' },
  entries: { type: 'string' },
  requests: { type: 'string' },
  traffic: { type: 'string' },
  'worst-case': { type: 'boolean' },
  diff: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Options = ReturnType<typeof parseOptions>;

function parseOptions(args: string[]) {
  return parseArgs({ args, options: flags }).values;
}

/** @throws {UsageError} when what was typed makes no sense */
export async function runCosts(args: string[]): Promise<void> {
  const options = parseOptions(args);
  if (options.help) return writeOut(help);
  if (options.diff !== undefined) return writeOut(tellChangesSince(options.diff));
  const input = toInput(options);
  warnOfOldPrices(input.prices, new Date());
  try {
    const report = toCostReport(input);
    await writeOut(`${options.json ? JSON.stringify(report, null, 2) : toText(report, options)}\n`);
  } catch (error) {
    throw error instanceof NoSuchAnswer ? new UsageError(error.message) : error;
  }
}

function toText(report: CostReport, options: Options): string {
  if (options['worst-case']) return toWorstMonthText(report.worstMonth);
  if (options.requests === undefined && options.traffic === undefined) {
    return toOperationsText(report);
  }
  const title = `A month of ${report.stage}, ${report.region}, prices of ${report.pricesAsOf}`;
  return `${toMonthText(title, report.month)}\n\n${toSavingsText(report.savings)}`;
}

function toInput(options: Options): ReportInput {
  const stage = parseStage(options.stage);
  const entries = parseEntries(options.entries);
  const { region, prices } = findPrices(options.region, stage);
  const traffic = readTraffic(options);
  return {
    stage,
    region,
    prices,
    traffic: entries === undefined ? traffic : { ...traffic, entries },
    sizes: entries === undefined ? measuredSizes : [entries],
    worstEntries: entries ?? stage.settings.inventoryEntries,
  };
}

function readTraffic({ requests, traffic: file }: Options): Traffic {
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  if (requests !== undefined) return { entries: usualEntries, shares: parseRequests(requests) };
  return file === undefined ? readCommittedTraffic() : parseTraffic(readFileSync(file, 'utf8'));
}

function findPrices(typed: string | undefined, { settings }: Stage) {
  const region = typed ?? settings.region ?? defaultRegion;
  const prices = priceTables[region];
  if (prices) return { region, prices };
  throw new UsageError(
    `The prices of ${region} are not known: add them to infra/costs/prices, or take --region ${Object.keys(priceTables).join(', ')}.`,
  );
}

const MOST_ENTRIES = 1e9;

function parseEntries(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const entries = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (entries <= MOST_ENTRIES) return entries;
  throw new UsageError(
    `--entries must be a whole number from 0 to ${MOST_ENTRIES}; it is "${text}".`,
  );
}
