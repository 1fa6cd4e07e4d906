import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { writeOut } from '../../cli/output.ts';
import { findCostChanges } from '../../costs/bills/costChanges.ts';
import { toCostReport } from '../../costs/bills/costReport.ts';
import { toWorstMonth } from '../../costs/bills/monthlyBill.ts';
import { parseTraffic, readCommittedTraffic } from '../../costs/bills/traffic.ts';
import { toCents } from '../../costs/bills/usage.ts';
import type { CommittedFigures } from '../../costs/figures.ts';
import { type Prices, usualRegion } from '../../costs/prices.ts';
import { type MeasuredUnits, readSizes } from '../../costs/units/responseUnits.ts';
import { stagesForClients } from '../../stages/stages.ts';

const trafficFile = 'infra/costs/traffic.json';

/**
 * Prints three sums compared with a commit: what the committed traffic costs, what a change of that traffic adds, and
 * the worst month. Today's model prices the units, sizes, prices, metrics and settings that the commit has as data.
 */
export async function runDiff(revision: string, json = false): Promise<void> {
  const traffic = readCommittedTraffic();
  const { entries } = traffic;
  const { sizes, stages, toPrices, trafficThen, ...then } = readFiguresOf(revision);
  const known = new Set(then.units.map((one) => `${one.operationId} ${one.response}`));
  const shares = traffic.shares.filter((one) => known.has(`${one.operationId} ${one.response}`));
  const changes = stagesForClients.map((stage) => {
    const { name } = stage;
    const settings = stages[name];
    const prices = toPrices(settings?.region);
    const figures = { ...then, sizes: readSizes(name, sizes), prices };
    const before = settings && { ...stage, settings };
    const now = toCostReport(stage, traffic, entries);
    const was = before && toCostReport(before, { entries, shares }, entries, figures);
    const ofTraffic = toCostReport(stage, trafficThen, entries);
    const worst = before && { month: toWorstMonth(before, undefined, figures) };
    return {
      stage: name,
      ...toSum(`At the traffic of ${trafficFile}, ${name}`, was, now),
      traffic: toSum(`By the change of ${trafficFile}, ${name}`, ofTraffic, now),
      worst: toSum(`At worst, ${name}`, worst, { month: toWorstMonth(stage) }),
    };
  });
  if (json) return writeOut(`${JSON.stringify(changes, null, 2)}\n`);
  const moved = changes
    .flatMap((one) => [one, one.traffic, one.worst])
    .map((one) => one.changes.join('\n- '))
    .filter((text) => text !== '');
  const totals = changes.map(({ stage, after, worst }) => {
    return `${stage} $${toCents(after)} a month, at worst $${toCents(worst.after)}`;
  });
  const none = `At the traffic of ${trafficFile}, nothing costs more or less than at ${revision}: ${totals.join('; ')}.`;
  await writeOut(`${moved.length > 0 ? moved.join('\n\n') : none}\n`);
}

function toSum(...compared: Parameters<typeof findCostChanges>) {
  const [, before, after] = compared;
  const changes = findCostChanges(...compared);
  return { before: before?.month.total, after: after.month.total, changes };
}

function readFiguresOf(revision: string) {
  const read = (file: string) => git('show', '--end-of-options', `${revision}:./${file}`);
  const figuresFile = 'infra/costs/figures.json';
  if (git('ls-tree', '--name-only', '--end-of-options', revision, figuresFile) === '') {
    throw new Error(`${revision} has no ${figuresFile}: its month cannot be priced.`);
  }
  const units: MeasuredUnits[] = JSON.parse(read('infra/costs/units/units.json'));
  const figures: CommittedFigures = JSON.parse(read(figuresFile));
  const toPrices = (region = usualRegion): Prices =>
    JSON.parse(read(`infra/costs/prices/${region}.json`)).prices;
  const trafficThen = parseTraffic(read(trafficFile), `${trafficFile} of ${revision}`);
  return { units, sizes: read('infra/costs/sizes.json'), ...figures, toPrices, trafficThen };
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
