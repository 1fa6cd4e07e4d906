import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { tell } from '../../cli/output.ts';
import { stageUsage } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import {
  addShops,
  parseAmount,
  parseRequests,
  parseTraffic,
  readCommittedTraffic,
  scaleTraffic,
  sumRequests,
  type Traffic,
  usualEntries,
} from '../../costs/bills/traffic.ts';
import { PRICES_AS_OF, pricedRegions } from '../../costs/prices.ts';

export const help = `npm run costs [-- options]

Says what the service costs, by a model of it: the units of each request are measured by the tests, the
prices are AWS's list prices without tax. Without one of these options, dollars per million requests.

  --requests LIST      a month's bill for getPet=2M,listInventory:gzip=500k,updateInventory:412=1k; or of a
                       number alone, such as 10M, in the mix of infra/costs/traffic.json
  --traffic FILE       the same from a file: {"entries": 1000, "requests": {"getPet": 2000000}}
  --shops +N           the same with N more shops, each as "shop" in the traffic says
  --months N           N months, one after the other, and their sum
  --growth PERCENT     how many requests more each of them has than the one before, such as 5%
  --from-logs          the same from the gateway's log of --from to --to, as a month of it; with --json, the
                       file. Its mix of encodings, petId= and Idempotency-Key is that of
                       infra/costs/traffic.json, since the log knows none. Preflights and unknown paths are
                       left out
  --worst-case         the most expensive month that the stage's throttles and concurrency let through
  --check              fails when the worst month costs more than the stage's worstMonthDollars, or the month
                       of infra/costs/traffic.json more than infra/costs/accepted.json by over the stage's
                       maxIncreaseDollars or maxIncreasePercent; all stages without --stage
  --diff REV           what that month costs more or less than at a commit, and what moved it
  --by-key             what each API key's requests have cost from --from to --to, by the stage's own logs,
                       with its share of what is fixed. Before queries that cost more than $1, it asks,
                       unless --yes is given
  --measure            what the stage's entries are like, by a sample of its table, for infra/costs/sizes.json
  --reconcile FILE     a bill held against the model; status 1 where a line differs by more than --tolerance,
                       5% by default, and a cent. FILE, or several, each with its --reconcile, is a Cost and
                       Usage Report 2.0 or FOCUS, as CSV, also .gz, or Parquet, with the cost allocation tag
                       "stage". The model has the traffic of a month, that of infra/costs/traffic.json unless
                       another is given, for the days of the stage's lines, or --from to --to. Lines of
                       another account than --account, or that of the stage's settings, are left out

  ${stageUsage}   whose settings count: memory, tracing, throttles; default: production
  --entries N          for an inventory of that length, and not of several
  --from, --to DAY     the first and the last day, of UTC, such as 2026-11-01
  --json               one document, for a machine to read
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const texts = { type: 'string', multiple: true } as const;
export const flags = {
  ...{ stage: text, entries: text, requests: text, traffic: text, shops: text },
  ...{ months: text, growth: text, from: text, to: text, 'from-logs': flag, measure: flag },
  ...{ check: flag, 'worst-case': flag, diff: text, 'by-key': flag },
  ...{ reconcile: texts, tolerance: text, account: text },
  ...{ json: flag, yes: flag, help: { type: 'boolean', short: 'h' } as const },
} as const;

/** What was typed, by the names of the options. */
export type CostOptions = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values'];

/** What the traffic is made of. */
const traffics = ['entries', 'requests', 'traffic', 'shops'] as const;
/** What the days are that logs or a bill are read of. */
const days = ['from', 'to', 'yes'] as const;

/** What the command does, by the option that asks for it, and the options which that takes. */
const modes: readonly (readonly [mode: string, taken: readonly string[]])[] = [
  ['help', Object.keys(flags)],
  ['diff', []],
  ['check', ['stage']],
  ['by-key', ['stage', ...days, 'json']],
  ['reconcile', ['stage', ...days, ...traffics, 'from-logs', 'tolerance', 'account', 'json']],
  ['from-logs', ['stage', ...days, 'entries', 'json']],
  ['measure', ['stage', 'json']],
  ['worst-case', ['stage', 'entries', 'json']],
  ['months', ['stage', ...traffics, 'growth', 'json']],
  ['', ['stage', ...traffics, 'json']],
];

/** @throws {UsageError} when an option would go unheard beside another */
export function parseCostOptions(args: string[]): CostOptions {
  const options = parseArgs({ args, options: flags }).values;
  const typed = Object.keys(options);
  const [mode, taken] = modes.find(([name]) => name === '' || typed.includes(name)) ?? ['', []];
  const unheard = typed.find((name) => name !== mode && !taken.includes(name));
  if (unheard) {
    throw new UsageError(`--${unheard} has no meaning ${mode ? `with --${mode}` : 'by itself'}.`);
  }
  return options;
}

/**
 * The traffic that a command reckons with, the committed one where none is given; `--entries` in place of its own.
 * @throws {UsageError} when what was typed makes no sense
 */
export function readTraffic({ requests, traffic: file, entries, shops }: CostOptions): Traffic {
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  try {
    const traffic = readRequests(requests, file);
    const all = shops === undefined ? traffic : addShops(traffic, parseShops(shops));
    return { ...all, entries: parseWhole('--entries', entries) ?? all.entries };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readRequests(requests: string | undefined, file: string | undefined): Traffic {
  if (file !== undefined) return parseTraffic(readFileSync(file, 'utf8'));
  const committed = readCommittedTraffic();
  if (requests === undefined) return committed;
  const sum = parseAmount(requests);
  if (sum !== undefined) return scaleTraffic(committed, sum / sumRequests(committed));
  const { shop } = committed;
  return { entries: usualEntries, shares: parseRequests(requests), ...(shop && { shop }) };
}

function parseShops(text: string): number {
  if (/^\+\d+$/.test(text)) return Number(text);
  throw new Error(`--shops must be such as +2; it is "${text}".`);
}

/**
 * The traffic of each of `--months`, the first as it is.
 * @throws {UsageError} when what was typed makes no sense
 */
export function toMonthlyTraffic(traffic: Traffic, options: CostOptions): Traffic[] {
  const months = parseWhole('--months', options.months) ?? 1;
  if (!(months > 0 && months < 1_000)) throw new UsageError('--months must be from 1 to 999.');
  const factor = 1 + parsePercent('--growth', options.growth ?? '0', -100) / 100;
  return Array.from({ length: months }, (_, index) => scaleTraffic(traffic, factor ** index));
}

/** @throws {UsageError} when it is no whole number */
export function parseWhole(option: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d+$/.test(text)) return text === undefined ? text : Number(text);
  throw new UsageError(`${option} must be a whole number; it is "${text}".`);
}

/** @throws {UsageError} when it is no percentage, or below the least that makes sense */
export function parsePercent(option: string, text: string, min = 0): number {
  const [, percent] = /^(-?\d+(?:\.\d+)?)%?$/.exec(text) ?? [];
  if (Number(percent) >= min) return Number(percent);
  throw new UsageError(`${option} must be such as 5%; it is "${text}".`);
}

const YEAR = 365 * 24 * 3600 * 1000;

/** Tells that the prices are another region's, or were looked up over a year ago. */
export function warnOfPrices(region: string): void {
  if (!pricedRegions.some((one) => one === region)) {
    tell(`The prices of ${region} are not known: these are those of ${pricedRegions[0]}.`);
  }
  if (Date.now() - Date.parse(PRICES_AS_OF) > YEAR) {
    tell(
      `The prices are of ${PRICES_AS_OF}, over a year old: look them up again, at the pages that infra/costs/prices.ts names.`,
    );
  }
}
