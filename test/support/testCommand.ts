import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../infra/cli/usage.ts';

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>['values'];

/** Runs a proof or a benchmark, then ends this process: engines and connections would keep it alive. */
export async function runTestCommand<const Options extends ParseArgsOptionsConfig>(
  help: string,
  options: Options,
  run: (values: Values<Options>) => Promise<void>,
): Promise<never> {
  await runCommand(async (args) => {
    const helpOption = { help: { type: 'boolean', short: 'h' } } as const;
    const { values } = parseArgs({ args, options: { ...options, ...helpOption } });
    if ((values as { help?: boolean }).help) process.stdout.write(help);
    else await run(values as Values<Options>);
  });
  process.exit();
}

/** A folder outside the checkout, deleted when this process ends, also by a signal, unless it is kept. */
export function makeScratchFolder(name: string, isKept = false): string {
  const folder = mkdtempSync(join(tmpdir(), `petstore-${name}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (!isKept) process.once('exit', remove);
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  return folder;
}

/** @throws {UsageError} unless the option's text is an integer in the range */
export function parseInteger(option: string, text: string, min = 0, max = 2 ** 31 - 1): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(
    `Option '${option}' must be an integer from ${min} to ${max}, not '${text}'`,
  );
}

export type Draw = () => number;

/** The same numbers for the same seed (mulberry32, https://github.com/cprosche/mulberry32). */
export function defineDraw(seed: number): Draw {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
