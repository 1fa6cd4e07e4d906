import { parseArgs } from 'node:util';
import { type CommandName, type CommandText, commands } from './commands.ts';
import { UsageError } from './usage.ts';

type Texts = Readonly<Record<string, CommandText>>;

/** The options that were typed, as parseArgs reads them. */
export type OptionValues<Text extends CommandText> = ReturnType<
  typeof parseArgs<{ options: Text['options'] }>
>['values'];

/** A function for each subcommand, called with its options and arguments. */
export type Runs<All extends Texts, Result> = {
  readonly [Name in keyof All]: (options: OptionValues<All[Name]>, words: string[]) => Result;
};

/**
 * Calls the function of the subcommand that was typed.
 * @returns `undefined` if none was typed, only options
 * @throws {UsageError} when there is no such subcommand, or its arguments are missing or too many
 */
export function callSubcommand<All extends Texts, Result>(
  command: 'keys' | 'costs',
  subcommands: All,
  runs: Runs<All, Result>,
  typed: readonly string[],
): { options: OptionValues<All[keyof All]>; result: Result } | undefined {
  const name: keyof All & string = findSubcommand(command, typed) ?? '';
  const text = subcommands[name];
  if (!text) {
    const [word = '-'] = typed;
    if (word.startsWith('-')) return undefined;
    throw unknownSubcommand(command, word);
  }
  const args = typed.toSpliced(typed.indexOf(name), 1);
  const parsed = parseArgs({ args, options: text.options, allowPositionals: true });
  const words = parsed.positionals;
  const expected = toArguments(text);
  const isRepeated = expected.at(-1)?.endsWith('…') && words.length > 0;
  if (words.length !== expected.length && !isRepeated) {
    const usage = text.usage ?? '[options]';
    throw new UsageError(`Usage: npx petstore ${command} ${name} ${usage}. See --help.`);
  }
  const options = parsed.values as OptionValues<All[keyof All]>;
  return { options, result: runs[name](options as never, words) };
}

/** The first word that names a subcommand. */
export function findSubcommand(command: CommandName, typed: readonly string[]) {
  const { subcommands = {} }: CommandText = commands[command];
  return typed.find((word) => Object.hasOwn(subcommands, word));
}

/** The names of a command's arguments, such as `KEY_ID`. The last one may be repeated if it ends in `…`. */
export function toArguments({ usage = '' }: CommandText): string[] {
  return usage.split(' ').filter((word) => /^[A-Z]/.test(word));
}

export function unknownSubcommand(command: CommandName, word: string): UsageError {
  const { subcommands = {} }: CommandText = commands[command];
  const names = Object.keys(subcommands).join(', ');
  return new UsageError(`There is no command "${command} ${word}". The commands are ${names}.`);
}
