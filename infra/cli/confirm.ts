import { createInterface } from 'node:readline/promises';
import { UsageError } from './usage.ts';

/**
 * Asks on the terminal before something that cannot be undone. Only `y` or `yes` is a yes.
 * @throws {UsageError} when nobody is there to be asked
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new UsageError('There is no terminal to ask on: add --yes to go ahead without asking.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
