import type { Command } from '../../../infra/cli/usage.ts';
import { start } from '../../../infra/local/start.ts';
import { runCosts } from '../../../infra/ops/costs/runCosts.ts';
import { runExport } from '../../../infra/ops/data/runExport.ts';
import { runImport } from '../../../infra/ops/data/runImport.ts';
import { runKeys } from '../../../infra/ops/keys/runKeys.ts';
import { runLogs } from '../../../infra/ops/logs/runLogs.ts';
import { runRestore } from '../../../infra/ops/restore/runRestore.ts';
import { runRollback } from '../../../infra/ops/rollback/runRollback.ts';
import { runSmoke } from '../../../infra/ops/smoke/runSmoke.ts';
import packageJson from '../../../package.json' with { type: 'json' };

const runs: Readonly<Record<string, Command>> = {
  start: async (args) => {
    process.exitCode = await start(args);
  },
  keys: runKeys,
  import: runImport,
  export: runExport,
  rollback: runRollback,
  restore: (args) => runRestore(args),
  logs: runLogs,
  smoke: runSmoke,
  costs: runCosts,
};

/** Every command for ops and finance, and the local stage: its name, its script, and what that runs. */
export const commands = Object.entries(packageJson.scripts).flatMap(([name, line]) => {
  const [, script] = /node infra\/run\.js (infra\/(?:ops|local)\/\S+)$/.exec(line) ?? [];
  if (script === undefined) return [];
  const run = runs[name];
  if (run === undefined) throw new Error(`The tests do not know what npm run ${name} runs.`);
  return [{ name, script, run }];
});
