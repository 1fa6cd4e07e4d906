import packageJson from '../package.json' with { type: 'json' };
import { type CommandName, type CommandText, commandNames, commands } from './cli/commands.ts';
import { toHelp, toOverview } from './cli/help.ts';
import { writeOut } from './cli/output.ts';
import { findSubcommand } from './cli/subcommands.ts';
import { type Command, UsageError } from './cli/usage.ts';

/** Each command is loaded alone, since most load slow AWS clients. */
const loads: Readonly<Record<CommandName, () => Promise<Command>>> = {
  start: async () => (await import('./local/start.ts')).start,
  keys: async () => (await import('./ops/keys/runKeys.ts')).runKeys,
  import: async () => (await import('./ops/data/runImport.ts')).runImport,
  export: async () => (await import('./ops/data/runExport.ts')).runExport,
  smoke: async () => (await import('./ops/smoke/runSmoke.ts')).runSmoke,
  logs: async () => (await import('./ops/logs/runLogs.ts')).runLogs,
  night: async () => (await import('./ops/night/runNight.ts')).runNight,
  rollback: async () => (await import('./ops/rollback/runRollback.ts')).runRollback,
  restore: async () => (await import('./ops/restore/runRestore.ts')).runRestore,
  costs: async () => (await import('./ops/costs/runCosts.ts')).runCosts,
  docs: async () => (await import('./docs/runDocs.ts')).runDocs,
  help: async () => explain,
};

/** Runs the command that the first word names. */
export async function petstore([word, ...args]: string[]): Promise<void> {
  if (word === '--version' || word === '-v') return writeOut(`${packageJson.version}\n`);
  if (word === undefined || isHelp(word)) return explain(args);
  const name = parseName(word);
  if (args.some(isHelp)) return explain([name, findSubcommand(name, args)]);
  const run = await loads[name]();
  try {
    await run(args);
  } catch (error) {
    throw toNamedOption(error, name, args);
  }
}

/** Adds the options of the command to the error for an unknown one. */
function toNamedOption(error: unknown, name: CommandName, args: readonly string[]): unknown {
  const { code, message } = Object(error);
  const [typed] = /^Unknown option '[^']+'/.exec(message) ?? [];
  const command: CommandText = commands[name];
  const { options } = command.subcommands?.[findSubcommand(name, args) ?? ''] ?? command;
  const names = Object.keys(options).map((option) => `--${option}`);
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || names.length === 0) return error;
  return new UsageError(`${typed}. The options are ${names.join(', ')}. See --help.`);
}

async function explain([word, subcommand, ...others]: (string | undefined)[]): Promise<void> {
  if (others.length > 0) throw new UsageError('help takes one command. See npx petstore help.');
  const text = word === undefined ? toOverview() : toHelp(parseName(word), subcommand);
  await writeOut(`${text}\n`);
}

function isHelp(arg: string): boolean {
  return arg === '--help' || arg === '-h';
}

/** @throws {UsageError} with all commands */
function parseName(word: string): CommandName {
  const found = commandNames.find((name) => name === word);
  if (found !== undefined) return found;
  throw new UsageError(
    `There is no command "${word}". The commands are ${commandNames.join(', ')}.`,
  );
}
