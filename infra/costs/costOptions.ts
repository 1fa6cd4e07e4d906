import { parseArgs } from 'node:util';
import { parseStage, stageUsage } from '../cli/stageOption.ts';
import { UsageError } from '../cli/usage.ts';
import { pricedRegions, readPrices } from './options/regionOption.ts';
import { parseEntries, readTraffic } from './options/trafficOptions.ts';
import type { ReportInput } from './report/costReport.ts';
import { measuredSizes } from './units/answers.ts';

export const costsHelp = `npm run costs [-- options]

Says what the service costs, by a model of it: the units of each request are measured by the tests, the
prices are AWS's list prices without tax. Without options, dollars per million requests.

  ${stageUsage}   whose settings count: memory, tracing, throttles; default: production
  --region REGION      where prices are known: ${pricedRegions.join(', ')}
  --entries N          for an inventory of that length, and not of several
  --requests LIST      a month's bill for getPet=2M,listInventory:gzip=500k,updateInventory:412=1k
  --traffic FILE       the same from a file: {"entries": 1000, "requests": {"getPet": 2000000}}
  --worst-case         the dearest month that the stage's throttles and concurrency let through
  --diff REV           what has got dearer or cheaper since a commit, by itself
  --json               all of it in one document, for a machine to read
`;

/** What `node:util` reads its options by. */
export const costFlags = {
  stage: { type: 'string' },
  region: { type: 'string' },
  entries: { type: 'string' },
  requests: { type: 'string' },
  traffic: { type: 'string' },
  'worst-case': { type: 'boolean' },
  diff: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export type CostOptions = ReturnType<typeof parseFlags>;

function parseFlags(args: string[]) {
  return parseArgs({ args, options: costFlags }).values;
}

/** @throws {UsageError} when one option would go unheard beside another */
export function parseCostOptions(args: string[]): CostOptions {
  const options = parseFlags(args);
  const { diff, json, 'worst-case': worstCase } = options;
  if (diff !== undefined && Object.keys(options).length > 1) {
    throw new UsageError(
      "Give --diff alone: it tells of production's bill at the committed traffic.",
    );
  }
  if (worstCase && hasTraffic(options) && !json) {
    throw new UsageError(
      'Give --worst-case or a traffic, not both: that one is as much as the throttles let through.',
    );
  }
  return options;
}

export function hasTraffic({ requests, traffic }: CostOptions): boolean {
  return requests !== undefined || traffic !== undefined;
}

/** @throws {UsageError} when what was typed makes no sense */
export function toReportInput(options: CostOptions): ReportInput {
  const stage = parseStage(options.stage ?? 'production');
  const entries = options.entries === undefined ? undefined : parseEntries(options.entries);
  const { region, prices } = readPrices(options.region, stage);
  return {
    stage,
    region,
    prices,
    traffic: readTraffic(options),
    sizes: entries === undefined ? measuredSizes : [entries],
    worstEntries: entries ?? stage.settings.inventoryEntries,
  };
}
