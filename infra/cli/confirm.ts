import { once } from 'node:events';
import { constants } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { escapeControls, log } from './output.ts';
import { UsageError } from './usage.ts';

/**
 * Asks on the terminal. Only `y` or `yes` is a yes. Ctrl-C is a no with the exit status of an interruption.
 * @throws {UsageError} without a terminal
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new UsageError('There is no terminal to ask on: add --yes to go ahead without asking.');
  }
  return /^y(es)?$/i.test(await ask(`${question} [y/N]`));
}

/** The reply on a terminal, without the spaces around it. After Ctrl-C it is empty, with the status of an interruption. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // If the error output is a file, Ctrl-D closes the input without a reply.
    const nothing = once(terminal, 'close').then(() => '');
    const asked = terminal.question(`${escapeControls(question)} `);
    const typed = await Promise.race([asked, nothing]);
    return typed.trim();
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    log('');
    process.exitCode = 128 + constants.signals.SIGINT;
    return '';
  } finally {
    terminal.close();
  }
}

/** The first line of standard input. A terminal does not show what is typed; Ctrl-C or Ctrl-D there is an empty line. */
export async function readHiddenLine(prompt: string): Promise<string> {
  const { isTTY = false } = process.stdin;
  if (isTTY) log(prompt);
  // Without an output, nothing is echoed.
  const input = createInterface({ input: process.stdin, terminal: isTTY });
  try {
    for await (const line of input) return line.trim();
    return '';
  } finally {
    input.close();
  }
}
