import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { commands } from '../../cli/commands.ts';
import { tell } from '../../cli/output.ts';
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

const { options: flags } = commands.costs;

export type CostOptions = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values'];

/** The options that define the traffic. */
const traffics = ['entries', 'requests', 'traffic', 'shops'] as const;
/** The options that define the days of logs or a bill. */
const days = ['from', 'to', 'yes'] as const;

/** The modes of the command, each named by its option, with the options that it takes. */
const modes: readonly (readonly [mode: string, taken: readonly string[]])[] = [
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

/** @throws {UsageError} when an option has no effect beside another */
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
 * The traffic that was given, or the committed traffic. `--entries` replaces its number of entries.
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
 * The traffic of each of `--months`; the first is unchanged.
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

/** Warns if the prices are another region's, or over a year old. */
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
