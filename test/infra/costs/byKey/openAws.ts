import { runCosts } from '../../../../infra/costs/runCosts.ts';
import { type Answers, startAws } from '../../ops/aws.ts';
import { callOps } from '../../ops/opsProcess.ts';
import { defineInsights, type Recorded } from './insights.ts';

export const november = ['--stage', 'production', '--from', '2026-11-01', '--to', '2026-11-30'];
/** When November's logs are all there, and August's are gone. */
export const december = Date.UTC(2026, 11, 5, 12);

export const byKey = (args: string[]) => runCosts(['--by-key', ...args]);

/** An AWS that answers as recorded, and the command on its November. */
export async function openAws(recorded: Recorded = {}, change: Answers = {}) {
  const aws = await startAws({ ...defineInsights(recorded), ...change });
  const variables = { ...aws.variables, AWS_REGION: 'us-east-1' };
  const run = (...args: string[]) => callOps(byKey, [...november, ...args], variables);
  const json = async (...args: string[]) => JSON.parse((await run('--json', ...args)).stdout);
  return { aws, variables, run, json };
}

/** What asks, as a process of its own, for the costs of today. */
export function toTodaysArgs(): string[] {
  const today = new Date().toISOString().slice(0, 10);
  return ['--by-key', '--stage', 'production', '--from', today, '--to', today];
}
