import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { tell, writeOut } from '../../cli/output.ts';
import { findCostChanges } from '../../costs/bills/costChanges.ts';
import { toCostReport } from '../../costs/bills/costReport.ts';
import { toWorstMonth } from '../../costs/bills/monthlyBill.ts';
import { parseTraffic, readCommittedTraffic, type Traffic } from '../../costs/bills/traffic.ts';
import { toCents } from '../../costs/bills/usage.ts';
import { type CommittedFigures, readFigures, toCommittedFigures } from '../../costs/figures.ts';
import { type Prices, readPrices, usualRegion } from '../../costs/prices.ts';
import type { MeasuredUnits } from '../../costs/units/responseUnits.ts';
import { readSizes } from '../../costs/units/sizes.ts';
import { stagesForClients } from '../../stages/stages.ts';

/**
 * Prints three sums compared with a commit: what the committed traffic costs, what a change of that traffic adds, and
 * the worst month. Today's model prices the units, sizes, prices, metrics and settings that the commit has as data.
 * @param revision as git takes it
 * @throws {Error} when there is no such commit, or it has no units
 */
export async function runDiff(revision: string, json = false): Promise<void> {
  const traffic = readCommittedTraffic();
  const { entries } = traffic;
  const { sizes, stages, lacks, toPrices, trafficThen, ...then } = readFiguresOf(revision);
  const known = new Set(then.units.map((one) => `${one.operationId} ${one.response}`));
  const shares = traffic.shares.filter((one) => known.has(`${one.operationId} ${one.response}`));
  const changes = stagesForClients.map((stage) => {
    const { name } = stage;
    const { throttles, inventoryEntries } = stage.settings;
    const settings = stages[name];
    const prices = toPrices(settings?.region);
    const figures = { ...then, sizes: readSizes(name, sizes), prices };
    // The commit may lack an operation, or these settings.
    const before = settings && {
      ...stage,
      settings: {
        ...settings,
        inventoryEntries: settings.inventoryEntries ?? inventoryEntries,
        throttles: { ...throttles, ...settings.throttles },
      },
    };
    const now = toCostReport(stage, traffic, entries);
    const [was, is] = [before && toWorstMonth(before, undefined, figures), toWorstMonth(stage)];
    return {
      stage: name,
      ...toSum(
        `At the traffic of infra/costs/traffic.json, ${name}`,
        before && toCostReport(before, { entries, shares }, entries, figures),
        now,
      ),
      traffic: toSum(
        `By the change of infra/costs/traffic.json, ${name}`,
        toCostReport(stage, trafficThen ?? traffic, entries),
        now,
      ),
      worst: toSum(`At worst, ${name}`, was && { month: was, operations: [] }, {
        month: is,
        operations: [],
      }),
    };
  });
  if (json) {
    lacks.forEach(tell);
    return writeOut(`${JSON.stringify(changes, null, 2)}\n`);
  }
  const moved = changes
    .flatMap((one) => [one, one.traffic, one.worst])
    .map((one) => one.changes.join('\n- '))
    .filter((text) => text !== '');
  const totals = changes.map(({ stage, after, worst }) => {
    return `${stage} $${toCents(after)} a month, at worst $${toCents(worst.after)}`;
  });
  const none = `At the traffic of infra/costs/traffic.json, nothing costs more or less than at ${revision}: ${totals.join('; ')}.`;
  await writeOut(`${[...(moved.length > 0 ? moved : [none]), ...lacks].join('\n\n')}\n`);
}

function toSum(...compared: Parameters<typeof findCostChanges>) {
  const [, before, after] = compared;
  const changes = findCostChanges(...compared);
  return { before: before?.month.total, after: after.month.total, changes };
}

/** @throws {Error} when there is no such commit, or it has no units */
function readFiguresOf(revision: string) {
  const [unitsFile, figuresFile] = ['infra/costs/units/units.json', 'infra/costs/figures.json'];
  const files = git('ls-tree', '-r', '--name-only', '--end-of-options', revision, 'infra/costs');
  const read = (file: string) => git('show', '--end-of-options', `${revision}:./${file}`);
  if (!files.includes(unitsFile)) {
    throw new Error(`${revision} has no ${unitsFile}: its month cannot be priced.`);
  }
  const units: MeasuredUnits[] = JSON.parse(read(unitsFile));
  const sizes = read('infra/costs/sizes.json');
  const hasFigures = files.includes(figuresFile);
  const figures: CommittedFigures & { prices?: Prices } = hasFigures
    ? JSON.parse(read(figuresFile))
    : toCommittedFigures(readFigures().metrics, stagesForClients);
  const toPrices = (region = usualRegion): Prices => {
    const file = `infra/costs/prices/${region}.json`;
    // Before there were prices by region, the figures had those of one.
    return files.includes(file)
      ? JSON.parse(read(file)).prices
      : (figures.prices ?? readPrices(region).prices);
  };
  const lacks = hasFigures
    ? []
    : [`${revision} has no ${figuresFile}: it is priced with today's settings, prices and alarms.`];
  let trafficThen: Traffic | undefined;
  try {
    const file = 'infra/costs/traffic.json';
    trafficThen = parseTraffic(read(file), `${file} of ${revision}`);
  } catch (error) {
    lacks.push((error as Error).message);
  }
  return { units, sizes, ...figures, toPrices, trafficThen, lacks };
}

/** @throws {Error} with what git says */
function git(...args: string[]): string {
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  const { status, stdout, stderr, error } = spawnSync('git', args, {
    ...{ cwd, encoding: 'utf8', maxBuffer: 2 ** 27 },
  });
  if (status === 0) return stdout;
  throw error ?? new Error(`git: ${stderr.replace(/^fatal: /, '').trim()}`);
}
