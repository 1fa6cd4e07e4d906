import { commands } from './cli/commands.ts';
import { type Loads, runProgram } from './cli/program.ts';
import { UsageError } from './cli/usage.ts';

/** Each command is loaded alone, since most load slow AWS clients. */
const loads: Loads = {
  start: async () => (await import('./local/start.ts')).start,
  keys: async () => (await import('./ops/keys/runKeys.ts')).runs,
  import: async () => (await import('./ops/data/runImport.ts')).runImport,
  export: async () => (await import('./ops/data/runExport.ts')).runExport,
  smoke: async () => (await import('./ops/smoke/runSmoke.ts')).runSmoke,
  status: async () => (await import('./ops/status/runStatus.ts')).runStatus,
  rollback: async () => (await import('./ops/rollback/runRollback.ts')).runRollback,
  costs: async () => (await import('./costs/runCosts.ts')).runs,
  docs: async () => {
    const { runDocs } = await import('./docs/runDocs.ts');
    return () => runDocs();
  },
};

export async function petstore(typed: string[]): Promise<void> {
  const [name, ...args] = typed;
  if (name === 'start' && process.env.npm_lifecycle_event === 'start') refuseMisplaced(args);
  await runProgram(loads, typed);
}

/**
 * npm takes the options before `--` for itself. It leaves them in the environment, and a value after a space in front
 * of the arguments: https://docs.npmjs.com/cli/v11/using-npm/config#environment-variables
 */
function refuseMisplaced([first = '--']: readonly string[]): void {
  const isTaken = (option: string) => process.env[`npm_config_${option.replaceAll('-', '_')}`];
  if (first.startsWith('-') && !Object.keys(commands.start.options).some(isTaken)) return;
  throw new UsageError('Write "--" between npm start and its options: npm start -- --port 4000');
}
