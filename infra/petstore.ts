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
  completion: async () => (await import('./cli/completion.ts')).printCompletion,
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

/** Adds the nearest option of the command to the error for an unknown one. */
function toNamedOption(error: unknown, name: CommandName, args: readonly string[]): unknown {
  const { code, message } = Object(error);
  const [, typed] = /^Unknown option '--([^']+)'/.exec(message) ?? [];
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || typed === undefined) return error;
  const command: CommandText = commands[name];
  const { options } = command.subcommands?.[findSubcommand(name, args) ?? ''] ?? command;
  const toEdits = (option: string) => countEdits(typed, option);
  const [nearest] = Object.keys(options)
    .filter((one) => one.startsWith(typed) || toEdits(one) < Math.min(3, one.length))
    .toSorted((one, other) => toEdits(one) - toEdits(other));
  if (nearest === undefined) return error;
  return new UsageError(`Unknown option '--${typed}'. Did you mean --${nearest}? See --help.`);
}

async function explain([word, subcommand, ...others]: (string | undefined)[]): Promise<void> {
  if (others.length > 0) throw new UsageError('help takes one command. See npx petstore help.');
  const text = word === undefined ? toOverview() : toHelp(parseName(word), subcommand);
  await writeOut(`${text}\n`);
}

function isHelp(arg: string): boolean {
  return arg === '--help' || arg === '-h';
}

/** @throws {UsageError} with all commands, first those that begin like the word */
function parseName(word: string): CommandName {
  const found = commandNames.find((name) => name === word);
  if (found !== undefined) return found;
  const names = commandNames.toSorted(
    (one, other) => countSame(word, other) - countSame(word, one),
  );
  throw new UsageError(`There is no command "${word}". The commands are ${names.join(', ')}.`);
}

/** How many letters must be added, removed or changed to make one word of the other. */
function countEdits(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...one].entries()) {
    const next = [row + 1];
    for (const [column, wanted] of [...other].entries()) {
      const [changed = 0, removed = 0] = previous.slice(column);
      const added = next[column] ?? 0;
      next.push(Math.min(changed + Number(letter !== wanted), removed + 1, added + 1));
    }
    previous = next;
  }
  return previous.at(-1) ?? 0;
}

/** How many letters are the same at the beginning. */
function countSame(one: string, other: string): number {
  const differing = [...one].findIndex((letter, index) => letter !== other[index]);
  return differing < 0 ? one.length : differing;
}
