import { type CommandName, type CommandText, commandNames, commands } from './commands.ts';
import { wrapWords } from './output.ts';
import { toArguments, unknownSubcommand } from './subcommands.ts';

/** The column of explanations; a longer term has a line of its own. */
const INDENT = 24;
const MAX_WIDTH = 100;

/** All commands, a line each. */
export function toOverview(width = toWidth()): string {
  const rows = commandNames.map((name) => [name, commands[name].summary] as const);
  return [
    'Usage: npx petstore COMMAND [options]',
    `Commands:\n${toRows(rows, width)}`,
    wrap('npx petstore help COMMAND explains a command.', width),
  ].join('\n\n');
}

/**
 * What a command or one of its subcommands does, and its options.
 * @throws {UsageError} when there is no such subcommand
 */
export function toHelp(name: CommandName, subcommand?: string, width = toWidth()): string {
  const { subcommands: all = {}, ...command }: CommandText = commands[name];
  const own = subcommand === undefined ? undefined : all[subcommand];
  if (subcommand !== undefined && !own) throw unknownSubcommand(name, subcommand);
  const { summary, usage = '[options]', about = `${summary}.`, options } = own ?? command;
  const line = ['Usage: npx petstore', name, subcommand, usage];
  const words = Object.entries(own ? {} : all).map(([word, one]) => {
    return [[word, ...toArguments(one)].join(' '), one.summary] as const;
  });
  const rows = Object.entries(options).map(([option, { value, about, default: initial }]) => {
    const term = value === undefined ? `--${option}` : `--${option} ${value}`;
    return [term, initial === undefined ? about : `${about} (default: ${initial})`] as const;
  });
  return [
    line.filter(Boolean).join(' '),
    ...[about].flat().map((paragraph) => wrap(paragraph, width)),
    ...(words.length === 0 ? [] : [`Commands:\n${toRows(words, width)}`]),
    ...(rows.length === 0 ? [] : [`Options:\n${toRows(rows, width)}`]),
    ...(words.length === 0 ? [] : [wrap(`npx petstore help ${name} COMMAND explains one.`, width)]),
  ].join('\n\n');
}

/** The width of the terminal, or 80 without one. */
function toWidth({ isTTY, columns } = process.stdout): number {
  return isTTY ? Math.min(columns, MAX_WIDTH) : 80;
}

function toRows(rows: readonly (readonly [term: string, about: string])[], width: number): string {
  return rows
    .map(([term, about]) => {
      const text = wrap(about, width - INDENT).replaceAll('\n', `\n${' '.repeat(INDENT)}`);
      const start = `  ${term}`.padEnd(INDENT);
      return start.endsWith('  ')
        ? start + text
        : `${start.trimEnd()}\n${' '.repeat(INDENT)}${text}`;
    })
    .join('\n');
}

function wrap(text: string, width: number): string {
  return wrapWords(text, width).join('\n');
}
