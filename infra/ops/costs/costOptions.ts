import { readFileSync } from 'node:fs';
import type { commands } from '../../cli/commands.ts';
import { tell } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { parseStage, toRegion } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import {
  addShops,
  parseTraffic,
  readCommittedTraffic,
  replaceRequests,
  type Traffic,
} from '../../costs/bills/traffic.ts';
import { readPrices, usualRegion } from '../../costs/prices.ts';
import type { Stage, StageName } from '../../stages/stages.ts';

type Subcommands = (typeof commands.costs)['subcommands'];

export type CostOptions<Name extends keyof Subcommands> = OptionValues<Subcommands[Name]>;

/** The traffic that was typed, or the committed traffic. */
export function readTraffic(options: CostOptions<'month' | 'reconcile'>): Traffic {
  const { requests, traffic: file, entries, shops } = options;
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  try {
    const text = file === undefined ? undefined : readFileSync(file === '-' ? 0 : file, 'utf8');
    const name = file === '-' ? 'The standard input' : file;
    const read = text === undefined ? readCommittedTraffic() : parseTraffic(text, name);
    const asked = requests === undefined ? read : replaceRequests(read, requests);
    const all = shops === undefined ? asked : addShops(asked, Number(shops));
    return { ...all, entries: entries ?? all.entries };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

const YEAR = 365 * 24 * 3600 * 1000;

/** @throws {Error} when the prices of its region are not known */
export function parsePricedStage(name: StageName) {
  const stage = parseStage(name);
  return toPricedStage(stage, toRegion(stage).region);
}

/** The stage in the region whose prices are its own. Warns if they are over a year old. */
export function toPricedStage(stage: Stage, region = usualRegion) {
  const { asOf } = readPrices(region);
  if (Date.now() - Date.parse(asOf) > YEAR) {
    tell(
      `The prices of ${region} are of ${asOf}, over a year old: npx petstore costs prices --region ${region} reads them again.`,
    );
  }
  return { ...stage, settings: { ...stage.settings, region } };
}
