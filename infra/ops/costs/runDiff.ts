import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeOut } from '../../cli/output.ts';
import { findCostChanges, type PricedStage } from '../../costs/bills/costChanges.ts';
import { toCostReport } from '../../costs/bills/costReport.ts';
import { readCommittedTraffic, type Traffic } from '../../costs/bills/traffic.ts';
import { toCents } from '../../costs/bills/usage.ts';
import { pricedRegions } from '../../costs/prices.ts';
import type { MeasuredUnits } from '../../costs/units/answerUnits.ts';
import { stagesForClients } from '../../stages/stages.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Prints what the committed traffic costs now compared with a commit, by the commit's own settings, prices, units and
 * model. Its files are in a temporary folder meanwhile, with the packages that are installed here.
 * @param revision as git takes it
 * @throws {Error} when there is no such commit, or it cannot price a stage
 */
export async function runDiff(revision: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-costs-'));
  try {
    const files = join(folder, 'files.tar');
    run(root, 'git', 'archive', '--format=tar', `--output=${files}`, '--end-of-options', revision);
    run(folder, 'tar', '-x', '-f', files);
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeOut(toChangesText(revision, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function toChangesText(revision: string, folder: string): string {
  const traffic = readCommittedTraffic();
  const file = join(folder, 'traffic-of-today.json');
  writeFileSync(file, toKnownTraffic(folder, traffic));
  const options = ['--traffic', file, '--entries', `${traffic.entries}`];
  const stages = stagesForClients.map((stage) => {
    const after = toCostReport(stage, pricedRegions[0], traffic, traffic.entries);
    const before = priceStage(folder, stage.name, options);
    return {
      total: `${stage.name} $${toCents(after.month.total)}`,
      changes: findCostChanges(stage.name, before, after),
    };
  });
  const moved = stages.flatMap(({ changes: [sentence, ...details] }) =>
    sentence ? [`${[sentence, ...details].join('\n- ')}\n`] : [],
  );
  if (moved.length > 0) return moved.join('\n');
  const totals = stages.map(({ total }) => total).join(', ');
  return `At the traffic of infra/costs/traffic.json, nothing costs more or less than at ${revision}: ${totals} a month.\n`;
}

/** The traffic that the commit has units for, in the form that every model reads. */
function toKnownTraffic(folder: string, { entries, shares }: Traffic): string {
  const file = join(folder, 'infra/costs/units/units.json');
  const units: MeasuredUnits[] = JSON.parse(readFileSync(file, 'utf8'));
  const names = new Set(units.map(({ operationId, answer }) => `${operationId} ${answer}`));
  const requests = shares
    .map((one) => [`${one.operationId} ${one.answer}`, one.requests] as const)
    .filter(([name]) => names.has(name));
  return JSON.stringify({ entries, requests: Object.fromEntries(requests) });
}

/** @returns `undefined` where there is no such stage */
function priceStage(
  folder: string,
  stage: string,
  options: readonly string[],
): PricedStage | undefined {
  try {
    const costs = ['run', '-s', 'costs', '--', '--json', '--stage', stage];
    return JSON.parse(run(folder, 'npm', ...costs, ...options));
  } catch (error) {
    if ((error as Error).message.includes('--stage must be')) return undefined;
    throw error;
  }
}

/** @throws {Error} with what the command wrote on its error output */
function run(cwd: string, command: string, ...args: string[]): string {
  // Options of this npm, such as --yes of npx, are not for the other one.
  const variables = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  const env = Object.fromEntries(variables);
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' });
}
