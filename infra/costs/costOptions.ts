import { readFileSync } from 'node:fs';
import type { commands } from '../cli/commands.ts';
import type { OptionValues } from '../cli/program.ts';
import { findRegion } from '../cli/stageOption.ts';
import { UsageError } from '../cli/usage.ts';
import { checkStageSettings } from '../stages/checkStageSettings.ts';
import type { Stage } from '../stages/stages.ts';
import {
  multiplyRequests,
  parseTraffic,
  readCommittedTraffic,
  replaceRequests,
  type Traffic,
} from './bills/traffic.ts';
import { countMetrics, type MetricCounts } from './figures.ts';
import { usualRegion } from './prices.ts';

type Subcommands = (typeof commands.costs)['subcommands'];

export type CostOptions<Name extends keyof Subcommands> = OptionValues<Subcommands[Name]>;

/** The traffic that was typed, or the committed traffic. */
export function readTraffic(
  options: Pick<CostOptions<'table'>, 'requests' | 'traffic' | 'entries' | 'times'>,
): Traffic {
  const { requests, traffic: file, entries, times } = options;
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  try {
    const text = file === undefined ? undefined : readFileSync(file === '-' ? 0 : file, 'utf8');
    const name = file === '-' ? 'The standard input' : file;
    const read = text === undefined ? readCommittedTraffic() : parseTraffic(text, name);
    const once = requests === undefined ? read : replaceRequests(read, requests);
    const all = times === undefined ? once : multiplyRequests(once, times);
    return { ...all, entries: entries ?? all.entries };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** The stage with its region, which decides its prices. */
export function withRegion(stage: Stage, region = findRegion(stage).region ?? usualRegion) {
  return { ...stage, settings: { ...stage.settings, region } };
}

/**
 * Counts what AWS bills by the month. Loads the CDK and builds the templates, which takes some seconds.
 * @param build that of another commit
 */
export async function withMetrics<Named extends Stage>(stage: Named, build?: BuildApp) {
  // Another commit's settings follow that commit's own rules.
  if (!build) checkStageSettings(stage);
  const { buildTemplates } = await import('../deploy/buildApp.ts');
  const count = () => countMetrics(buildTemplates(stage, build));
  if (build) return { ...stage, metrics: count() };
  // These change no count.
  const {
    account,
    region,
    worstMonthDollars,
    maxIncreaseDollars,
    maxIncreasePercent,
    ...settings
  } = stage.settings;
  const key = JSON.stringify({ ...stage, settings });
  const metrics = counted.get(key) ?? count();
  counted.set(key, metrics);
  return { ...stage, metrics };
}
/** By the stage as JSON, for a process that runs several commands, as tests do. */
const counted = new Map<string, MetricCounts>();
export type BuildApp = Parameters<typeof import('../deploy/buildApp.ts')['buildTemplates']>[1];

/** Whole days of UTC, in milliseconds since the epoch. */
export interface DayRange {
  readonly from: number;
  /** The midnight after the last day. */
  readonly end: number;
}

export const DAY_MILLISECONDS = 86_400_000;

/** The midnight after the last whole day. */
export const findToday = () => Date.now() - (Date.now() % DAY_MILLISECONDS);

export const toDayCount = ({ from, end }: DayRange) => (end - from) / DAY_MILLISECONDS;

/** Such as `2026-11-30`. */
export function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
