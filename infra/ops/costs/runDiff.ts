import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { writeOut } from '../../cli/output.ts';
import { findCostChanges } from '../../costs/bills/costChanges.ts';
import { toCostReport } from '../../costs/bills/costReport.ts';
import { readCommittedTraffic } from '../../costs/bills/traffic.ts';
import { toCents } from '../../costs/bills/usage.ts';
import { type CommittedFigures, readFigures, toCommittedFigures } from '../../costs/figures.ts';
import { pricedRegions } from '../../costs/prices.ts';
import { findUnits, type MeasuredUnits } from '../../costs/units/answerUnits.ts';
import { readSizes } from '../../costs/units/sizes.ts';
import { stagesForClients } from '../../stages/stages.ts';

/**
 * Prints what the committed traffic costs now compared with a commit. Today's model prices the units, sizes, prices,
 * metrics and settings that the commit has as data.
 * @param revision as git takes it
 * @throws {Error} when there is no such commit, or it has no units
 */
export async function runDiff(revision: string): Promise<void> {
  const traffic = readCommittedTraffic();
  const then = readFiguresOf(revision);
  const { units } = then;
  const known = traffic.shares.filter((one) =>
    findUnits({ units }, one.operationId, one.answer, traffic.entries),
  );
  const [region] = pricedRegions;
  const stages = stagesForClients.map((stage) => {
    const { name } = stage;
    const after = toCostReport(stage, region, traffic, traffic.entries);
    const settings = then.stages[name];
    const before =
      settings &&
      toCostReport(
        ...([{ name, settings }, region, { ...traffic, shares: known }, traffic.entries] as const),
        { ...then, sizes: readSizes(name, then.sizes) },
      );
    return {
      total: `${name} $${toCents(after.month.total)}`,
      changes: findCostChanges(name, before, after),
    };
  });
  const moved = stages.flatMap(({ changes: [sentence, ...details] }) =>
    sentence ? [[sentence, ...details].join('\n- ')] : [],
  );
  const totals = stages.map(({ total }) => total).join(', ');
  const none = `At the traffic of infra/costs/traffic.json, nothing costs more or less than at ${revision}: ${totals} a month.`;
  const paragraphs = [...(moved.length > 0 ? moved : [none]), ...then.lacks];
  await writeOut(`${paragraphs.join('\n\n')}\n`);
}

/** @throws {Error} when there is no such commit, or it has no units */
function readFiguresOf(revision: string) {
  const read = (file: string) => git('show', '--end-of-options', `${revision}:./${file}`);
  const list = ['--name-only', '--end-of-options', revision, 'infra/costs/', 'infra/costs/units/'];
  const files = git('ls-tree', ...list).split('\n');
  const [unitsFile, figuresFile] = ['infra/costs/units/units.json', 'infra/costs/figures.json'];
  if (!files.includes(unitsFile)) {
    throw new Error(`${revision} has no ${unitsFile}: its month cannot be priced.`);
  }
  const units: MeasuredUnits[] = JSON.parse(read(unitsFile));
  const sizes = read('infra/costs/sizes.json');
  if (files.includes(figuresFile)) {
    const figures: CommittedFigures = JSON.parse(read(figuresFile));
    return { units, sizes, ...figures, lacks: [] };
  }
  const lacks = `${revision} has no ${figuresFile}: it is priced with today's settings, prices and alarms.`;
  const { metrics } = readFigures();
  return { units, sizes, ...toCommittedFigures(metrics, stagesForClients), lacks: [lacks] };
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
