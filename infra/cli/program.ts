import { Command, CommanderError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { hideSecrets } from '../../shared/keys/hideSecrets.ts';
import { type CommandName, type CommandText, commands } from './commands.ts';
import { print } from './output.ts';
import { UsageError } from './usage.ts';

type Value<One> = One extends { parse: (text: string) => infer Parsed }
  ? Exclude<Awaited<Parsed>, undefined>
  : One extends { choices: readonly (infer Choice)[] }
    ? Choice
    : One extends { value: string }
      ? string
      : boolean;
type Values<One> = One extends { multiple: true } ? Value<One>[] : Value<One>;
type Certain<All> = {
  [Name in keyof All]: All[Name] extends { required: true } | { default: string } ? Name : never;
}[keyof All];

/** The options as read from what was typed, and defaults. */
export type OptionValues<Text> = Text extends { options: infer All }
  ? { readonly [Name in Certain<All>]: Values<All[Name]> } & {
      readonly [Name in keyof All]?: Values<All[Name]> | undefined;
    }
  : object;

/** Runs a command with its options, and with the words that were typed if it takes any. */
type Run<Text> = (
  options: OptionValues<Text>,
  ...words: Text extends { argument: string } ? [words: string[]] : []
) => Promise<void>;

/** A function for each subcommand. */
export type Runs<All> = { readonly [Name in keyof All]: Run<All[Name]> };

/** Loads the function of each command, or those of its subcommands. */
export type Loads = {
  readonly [Name in CommandName]: () => Promise<
    (typeof commands)[Name] extends { subcommands: infer All }
      ? Runs<All>
      : Run<(typeof commands)[Name]>
  >;
};

/**
 * Runs the command that was typed.
 * @throws {UsageError} when there is no such command, or its options or arguments are invalid
 */
export async function runProgram(loads: Loads, typed: readonly string[]): Promise<void> {
  const program = defineCommand('npx petstore', { about: packageJson.description })
    .version(packageJson.version, '-v, --version', 'print the version')
    .helpCommand('help [command]', 'Explain a command');
  for (const [name, text] of Object.entries<CommandText>(commands)) {
    const load: () => Promise<unknown> = loads[name as CommandName];
    const command = defineCommand(name, text, text.subcommands ? undefined : load);
    for (const [word, one] of Object.entries(text.subcommands ?? {})) {
      const loadOne = async () => ((await load()) as Record<string, unknown>)[word];
      command.addCommand(defineCommand(word, one, loadOne), { isDefault: word === text.default });
    }
    program.addCommand(command);
  }
  const [first, ...others] = typed;
  await runTyped(program, first === 'help' ? [...others, '--help'] : typed);
}

/** @param load loads its `Run`; a command with subcommands has none */
export function defineCommand(
  name: string,
  { summary = '', about = `${summary}.`, argument, options = {} }: Partial<CommandText>,
  load?: () => Promise<unknown>,
): Command {
  const command = new Command(name)
    .summary(summary)
    .description([about].flat().join('\n\n'))
    .helpOption('-h, --help', 'explain this command')
    .helpCommand(false)
    .configureHelp({ minWidthToWrap: 20 })
    // The help that is printed without a subcommand is no error.
    .configureOutput({ writeErr: (help) => print(help.trimEnd()), outputError() {} })
    .exitOverride();
  if (argument !== undefined) command.arguments(argument);
  for (const [option, text] of Object.entries(options)) {
    const placeholder = text.value ? ` <${text.value}${text.multiple ? '...' : ''}>` : '';
    const one = new Option(`--${option}${placeholder}`, text.about).default(text.default);
    command.addOption(text.choices ? one.choices(text.choices) : one);
  }
  return load ? command.action(run) : command;

  async function run(): Promise<void> {
    // With the names as typed, such as `max-wcu`.
    const values: Record<string, unknown> = {};
    for (const option of command.options) {
      const { required, parse, rule } = options[option.name()] ?? {};
      const typed = command.getOptionValue(option.attributeName());
      const name = `error: option '${option.flags}'`;
      if (typed === undefined) {
        // Commander itself would look for these before it looks at unknown options.
        if (required) command.error(`${name} is missing`);
        continue;
      }
      const value = parse ? await parse(typed) : typed;
      if (value === undefined)
        command.error(`${name} argument '${typed}' is invalid. It must be ${rule}`);
      values[option.name()] = value;
    }
    const own = (await load?.()) as (...given: unknown[]) => Promise<void>;
    await own(values, ...(argument === undefined ? [] : [command.args]));
  }
}

/** Runs a command, or prints its help. @throws {UsageError} when what was typed is invalid */
export async function runTyped(command: Command, typed: readonly string[]): Promise<void> {
  try {
    await command.parseAsync(typed, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const isHelp = error.exitCode === 0 || error.code === 'commander.help';
    const [, message = ''] = /^error: (.*?)\.?$/s.exec(error.message) ?? [];
    if (!isHelp) throw new UsageError(`${hideSecrets(message)}. See --help.`);
  }
}
