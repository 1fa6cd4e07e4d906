import { readFileSync } from 'node:fs';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { parseStage, stageUsage, toRegion } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import type { ReportInput } from '../../costs/bills/costReport.ts';
import {
  parseRequests,
  parseTraffic,
  readCommittedTraffic,
  type Traffic,
  toAnswerable,
  usualEntries,
} from '../../costs/bills/traffic.ts';
import { defaultRegion, type PriceTable, priceTables } from '../../costs/prices.ts';
import { measuredSizes } from '../../costs/units/answerUnits.ts';
import type { Stage } from '../../stages/stages.ts';

const pricedRegions = Object.keys(priceTables);

export const costsHelp = `npm run costs [-- options]

Says what the service costs, by a model of it: the units of each request are measured by the tests, the
prices are AWS's list prices without tax. Without options, dollars per million requests.

  ${stageUsage}   whose settings count: memory, tracing, throttles; default: production
  --region REGION      where prices are known: ${pricedRegions.join(', ')}
  --entries N          for an inventory of that length, and not of several
  --requests LIST      a month's bill for getPet=2M,listInventory:gzip=500k,updateInventory:412=1k
  --traffic FILE       the same from a file: {"entries": 1000, "requests": {"getPet": 2000000}}
  --worst-case         the most expensive month that the stage's throttles and concurrency let through
  --check              fails when the worst month costs more than the stage's worstMonthDollars; all stages
                       without --stage
  --diff REV           what has come to cost more or less since a commit, by itself
  --json               all of it in one document, for a machine to read
`;

export const byKeyHelp = `npm run costs -- --by-key ${stageUsage} --from DAY --to DAY [--json] [--yes]

Asks the logs what each API key's requests have cost, by operation and by month, at list prices and
without free allowances. Requests and request units are those of each key's own lines. A function's
billed time is divided by its requests' milliseconds; its calls, traces and log lines by their number.
The gateway's log knows no key: its requests and the bytes that it sent are divided, operation by
operation and status by status, among the requests with that answer. What has no key is listed too.

  --by-key             by name of the key
  --from, --to DAY     the first and the last day, of UTC, such as 2026-11-01
  --json               one document
  --yes                do not ask before queries that cost more than $1
`;

export const reconcileHelp = `npm run costs -- --reconcile FILE ${stageUsage} [--requests LIST | --traffic FILE] [options]

Holds a bill against the model: of each usage type, quantity and dollars as billed and as modelled for the
traffic, and the errors of the model's quantity, of its price and of both together in per cent. FILE is an
export of the costs: a Cost and Usage Report 2.0 or FOCUS, as CSV, also .gz, or Parquet. It must
have the tag "stage", which is a cost allocation tag; what does not carry the stage's is listed apart, and so
is what AWS gives no tags, such as traces. Credits, taxes and free allowances are not modelled.

  --reconcile FILE     the export
  --from, --to DAY     only what was used on these days, of UTC; default: all of the file, as one month
  --requests LIST, --traffic FILE
                       the requests of that time; default: those of infra/costs/traffic.json
  --entries N          the length of the inventory at that time
  --region REGION      whose prices count; default: the stage's
  --json               one document
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const dayFlags = { from: text, to: text };
const trafficFlags = { entries: text, requests: text, traffic: text };
const stageFlags = { stage: text, json: flag };
const costFlags = {
  ...{ ...stageFlags, ...trafficFlags, region: text },
  ...{ 'worst-case': flag, check: flag, diff: text },
};
const byKeyFlags = { ...stageFlags, ...dayFlags, 'by-key': flag, yes: flag };
const reconcileFlags = {
  ...{ ...stageFlags, ...trafficFlags, ...dayFlags },
  ...{ reconcile: text, region: text },
};

/** What `node:util` reads the options by, of the model and of what has options of its own. */
export const flags = { costs: costFlags, byKey: byKeyFlags, reconcile: reconcileFlags };

export type CostOptions = Typed<typeof costFlags>;
export type ByKeyOptions = Typed<typeof byKeyFlags>;
export type ReconcileOptions = Typed<typeof reconcileFlags>;

/** What was typed, by the names of the options. */
type Typed<Flags extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Flags }>
>['values'];

/** @throws {UsageError} when one option would go unheard beside another */
export function parseCostOptions(args: string[]): CostOptions {
  const options = parseArgs({ args, options: flags.costs }).values;
  const { check, diff, json, stage, 'worst-case': worstCase } = options;
  if (diff !== undefined && Object.keys(options).length > 1) {
    throw new UsageError(
      "Give --diff alone: it tells of production's bill at the committed traffic.",
    );
  }
  if (check && Object.keys(options).length > (stage === undefined ? 1 : 2)) {
    throw new UsageError('Give --check alone or with --stage.');
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

/**
 * The traffic that a command reckons with, the committed one where none is given; `--entries` in place of its own.
 * @throws {UsageError} when what was typed makes no sense
 */
export function readTraffic({
  requests,
  traffic: file,
  entries,
}: Pick<CostOptions, keyof typeof trafficFlags>): Traffic {
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  const size = entries === undefined ? {} : { entries: parseEntries(entries) };
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

const MAX_ENTRIES = 1e9;

function parseEntries(text: string): number {
  const entries = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (entries <= MAX_ENTRIES) return entries;
  throw new UsageError(
    `--entries must be a whole number from 0 to ${MAX_ENTRIES}; it is "${text}".`,
  );
}

/**
 * Whose prices count: those of the region that is named, or of that which the stage is deployed to.
 * @throws {UsageError} when they are not known
 */
export function readPrices(
  typed: string | undefined,
  stage: Stage,
): { readonly region: string; readonly prices: PriceTable } {
  const region = typed ?? toRegion(stage).region ?? defaultRegion;
  const prices = Object.hasOwn(priceTables, region) ? priceTables[region] : undefined;
  if (prices) {
    warnOfOldPrices(prices);
    return { region, prices };
  }
  throw new UsageError(
    `The prices of ${region} are not known: add them to infra/costs/prices.ts, or take --region ${pricedRegions.join(' or ')}.`,
  );
}

const YEAR = 365 * 24 * 3600 * 1000;

/** Says on the error output that prices have to be looked up again, when they are over a year old. */
export function warnOfOldPrices({ asOf }: PriceTable): void {
  if (Date.now() - Date.parse(asOf) <= YEAR) return;
  process.stderr.write(
    `The prices are of ${asOf}, over a year old: look them up again, at the pages that infra/costs/prices.ts names.\n`,
  );
}
