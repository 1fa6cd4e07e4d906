import { once } from 'node:events';
import { constants } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { escapeControls, tell } from './output.ts';
import { UsageError } from './usage.ts';

/**
 * Asks on the terminal. Only `y` or `yes` is a yes. Ctrl-C is a no with the exit status of an interruption.
 * @throws {UsageError} without a terminal
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new UsageError('There is no terminal to ask on: add --yes to go ahead without asking.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // If the error output is a file, Ctrl-D closes the input without a reply.
    const nothing = once(terminal, 'close').then(() => '');
    const asked = terminal.question(`${escapeControls(question)} [y/N] `);
    const typed = await Promise.race([asked, nothing]);
    return /^y(es)?$/i.test(typed.trim());
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    tell('');
    process.exitCode = 128 + constants.signals.SIGINT;
    return false;
  } finally {
    terminal.close();
  }
}
