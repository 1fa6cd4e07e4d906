import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandName, type CommandText, commands, type Option } from './commands.ts';
import { toArguments } from './subcommands.ts';
import { UsageError } from './usage.ts';

/** npm has options of these names too, and does not pass them on. */
const hidden = ['expires', 'key'];

/** Whether `npm run NAME` or `npm start` runs the command. */
export function isScript(name: string, { npm_lifecycle_event }: NodeJS.ProcessEnv): boolean {
  return npm_lifecycle_event === name;
}

/**
 * Refuses options that npm took for its own, as in `npm run import --dry-run FILE`. It leaves them in the environment:
 * https://docs.npmjs.com/cli/v11/using-npm/config#environment-variables
 * A value after a space is `true` there, and an argument.
 * @throws {UsageError} with the line to type instead
 */
export function refuseSwallowed(
  name: CommandName,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): void {
  const isRun = isScript(name, env);
  // In `npx --yes petstore`, --yes is for npx.
  const isExec = /^\W*petstore\b/.test(env.npm_lifecycle_script ?? '');
  if (!isRun && !isExec) return;
  const taken = findTaken(name, env).filter(
    ([option]) => !(isExec && option === 'yes') && !args.some((arg) => isOf(arg, option)),
  );
  if (taken.length === 0) return;
  const typed = toTyped(name, args, taken);
  const script = name === 'start' ? 'npm start' : `npm run ${name}`;
  const line = isRun ? `${script} -- ${typed}` : `npx petstore ${name} ${typed}`;
  const others = hidden.filter((option) => option in toOptions(name));
  const rest = others.map((option) => `, and --${option} if you gave it`).join('');
  throw new UsageError(
    `npm took ${taken.map(([option]) => `--${option}`).join(', ')} for itself, so nothing was done. Type this${rest}: ${line}`,
  );
}

/** Those of the command and of its subcommands. */
function toOptions(name: CommandName): Record<string, Option> {
  const { options, subcommands = {} }: CommandText = commands[name];
  return Object.assign({}, options, ...Object.values(subcommands).map((one) => one.options));
}

type Taken = readonly [option: string, values: readonly string[]];

/** npm completes names: it passes `--to` on as `npm_config_token_description`. */
function findTaken(name: CommandName, env: NodeJS.ProcessEnv): Taken[] {
  const options = Object.keys(toOptions(name));
  return Object.entries(env).flatMap(([variable, text]): Taken[] => {
    const [, key] = /^npm_config_(.+)/.exec(variable) ?? [];
    if (!key || !text || isSetting(key, text, env)) return [];
    const spelled = key.replaceAll('_', '-');
    const option =
      options.find((one) => one === spelled) ?? options.find((one) => spelled.startsWith(one));
    return option === undefined ? [] : [[option, text.split('\n\n')]];
  });
}

/** Whether the value is from a `.npmrc`. */
function isSetting(key: string, value: string, env: NodeJS.ProcessEnv): boolean {
  const folder = env.npm_config_local_prefix;
  const files = [env.npm_config_userconfig, env.npm_config_globalconfig];
  if (folder) files.push(join(folder, '.npmrc'));
  return files.some((file) => {
    if (!file || !existsSync(file)) return false;
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split('=').map((part) => part.trim()))
      .some(([name, set = 'true']) => name?.replaceAll('-', '_') === key && set === value);
  });
}

/** What to type after the command's name. A word in capitals takes the place of an ambiguous value. */
function toTyped(name: CommandName, args: readonly string[], taken: readonly Taken[]): string {
  const { subcommands = {} }: CommandText = commands[name];
  const options = toOptions(name);
  const subcommand = subcommands[args[0] ?? ''];
  const own = subcommand ? 1 + toArguments(subcommand).length : 0;
  const end = args.findIndex((arg) => arg.startsWith('-'));
  const last = end < 0 ? args.length : end;
  let stray = args.slice(own, last);
  const pairs = taken.flatMap(([option, values]) =>
    values.map((given) => {
      const { type, choices = [] } = options[option] as Option;
      if (type === 'boolean') return { option, value: '' };
      if (given !== 'true') return { option, value: given };
      const index = stray.findIndex((word) => choices.includes(word));
      return { option, value: index < 0 ? undefined : stray.splice(index, 1)[0] };
    }),
  );
  const open = pairs.filter(({ value }) => value === undefined);
  const isClear =
    open.length === stray.length && new Set(open.map(({ option }) => option)).size < 2;
  const values = isClear ? stray : open.map(({ option }) => option.toUpperCase());
  if (open.length > 0) stray = [];
  const written = pairs.flatMap(({ option, value = values.shift() ?? '' }) =>
    value === '' ? [`--${option}`] : [`--${option}`, value],
  );
  return [...args.slice(0, own), ...stray, ...args.slice(last), ...written].map(quote).join(' ');
}

/** Quotes a word for a shell, but never repeats an API key. */
function quote(word: string): string {
  if (word.startsWith('psk_')) return 'KEY';
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function isOf(arg: string, option: string): boolean {
  return arg === `--${option}` || arg.startsWith(`--${option}=`);
}
