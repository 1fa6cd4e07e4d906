import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseStage, stageUsage } from '../cli/stageOption.ts';
import { UsageError } from '../cli/usage.ts';
import type { Stage } from '../stages/stages.ts';
import { readCommittedTraffic } from './change/committedTraffic.ts';
import { toAnswerable } from './model/monthlyBill.ts';
import { defaultRegion, priceTables } from './prices/priceTables.ts';
import type { ReportInput } from './report/costReport.ts';
import { parseRequests, parseTraffic, usualEntries } from './traffic/parseTraffic.ts';
import type { Traffic } from './traffic/traffic.ts';
import { measuredSizes } from './units/answers.ts';

const regions = Object.keys(priceTables);

export const costsHelp = `npm run costs [-- options]

Says what the service costs, by a model of it: the units of each request are measured by the tests, the
prices are AWS's list prices without tax. Without options, dollars per million requests.

  ${stageUsage}   whose settings count: memory, tracing, throttles; default: production
  --region REGION      where prices are known: ${regions.join(', ')}
  --entries N          for an inventory of that length, and not of several
  --requests LIST      a month's bill for getPet=2M,listInventory:gzip=500k,updateInventory:412=1k
  --traffic FILE       the same from a file: {"entries": 1000, "requests": {"getPet": 2000000}}
  --worst-case         the dearest month that the stage's throttles and concurrency let through
  --diff REV           what has got dearer or cheaper since a commit, by itself
  --charts FOLDER      two charts as SVG, of the requests and of the month's bill by its traffic
  --json               all of it in one document, for a machine to read
`;

const flags = {
  stage: { type: 'string' },
  region: { type: 'string' },
  entries: { type: 'string' },
  requests: { type: 'string' },
  traffic: { type: 'string' },
  'worst-case': { type: 'boolean' },
  diff: { type: 'string' },
  charts: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export type CostOptions = ReturnType<typeof parseFlags>;

function parseFlags(args: string[]) {
  return parseArgs({ args, options: flags }).values;
}

/** @throws {UsageError} when one option would go unheard beside another */
export function parseCostOptions(args: string[]): CostOptions {
  const options = parseFlags(args);
  const { charts, diff, help, requests, traffic, json, 'worst-case': worstCase } = options;
  if (help) return options;
  if (diff !== undefined && Object.keys(options).length > 1) {
    throw new UsageError(
      "Give --diff alone: it tells of production's bill at the committed traffic.",
    );
  }
  if (requests !== undefined && traffic !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  if (worstCase && hasTraffic(options) && !json) {
    throw new UsageError(
      'Give --worst-case or a traffic, not both: that one is as much as the throttles let through.',
    );
  }
  if (charts !== undefined && (worstCase || json)) {
    throw new UsageError('Give --charts with neither --worst-case nor --json.');
  }
  return options;
}

export function hasTraffic({ requests, traffic }: CostOptions): boolean {
  return requests !== undefined || traffic !== undefined;
}

/** @throws {UsageError} when what was typed makes no sense */
export function toReportInput(options: CostOptions): ReportInput {
  const stage = parseStage(options.stage ?? 'production');
  const entries = parseEntries(options.entries);
  const { region, prices } = findPrices(options.region, stage);
  return {
    stage,
    region,
    prices,
    traffic: readTraffic(options, entries),
    sizes: entries === undefined ? measuredSizes : [entries],
    worstEntries: entries ?? stage.settings.inventoryEntries,
  };
}

/** @param entries in place of the traffic's own */
function readTraffic({ requests, traffic: file }: CostOptions, entries?: number): Traffic {
  const size = entries === undefined ? {} : { entries };
  if (requests !== undefined) {
    return { entries: usualEntries, shares: parseRequests(requests), ...size };
  }
  if (file !== undefined) return { ...parseTraffic(readTrafficFile(file)), ...size };
  return toAnswerable({ ...readCommittedTraffic(), ...size });
}

function readTrafficFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--traffic cannot be read: ${(error as Error).message}.`);
  }
}

function findPrices(typed: string | undefined, { settings }: Stage) {
  const region = typed ?? settings.region ?? defaultRegion;
  const prices = Object.hasOwn(priceTables, region) ? priceTables[region] : undefined;
  if (prices) return { region, prices };
  throw new UsageError(
    `The prices of ${region} are not known: add them to infra/costs/prices, or take --region ${regions.join(' or ')}.`,
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
