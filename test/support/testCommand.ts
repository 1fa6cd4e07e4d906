import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Option } from '../../infra/cli/commands.ts';
import { defineCommand, type OptionValues, runTyped } from '../../infra/cli/program.ts';
import { runCommand } from '../../infra/cli/usage.ts';
import { type Section, toText } from '../bench/report.ts';

/** Runs a proof or a benchmark, then ends this process: engines and connections would keep it alive. */
export async function runTestCommand<const Options extends Readonly<Record<string, Option>>>(
  name: string,
  text: { readonly about: string | readonly string[]; readonly options: Options },
  run: (options: OptionValues<{ options: Options }>) => Promise<void>,
): Promise<never> {
  // The log lines of functions in this process are not the command's output.
  for (const method of ['info', 'error', 'warn'] as const) console[method] = () => {};
  const command = defineCommand(`npm run ${name} --`, text, async () => run);
  await runCommand((typed) => runTyped(command, typed));
  process.exit();
}

/** What a proof found. */
export interface Findings {
  readonly section: Section;
  /** What breaks the promise. */
  readonly problems: readonly string[];
}

/** Runs a proof, and prints what it found. Its status is 1 if the promise is broken. */
export function runProof<const Options extends Readonly<Record<string, Option>>>(
  name: string,
  text: { readonly about: string | readonly string[]; readonly options: Options },
  find: (options: OptionValues<{ options: Options }>) => Promise<Findings>,
): Promise<never> {
  return runTestCommand(name, text, async (options) => {
    const started = performance.now();
    const { section, problems } = await find(options);
    const seconds = Math.round((performance.now() - started) / 1_000);
    const end = `${problems.length} wrong, in ${seconds} s`;
    process.stdout.write(`${toText(section)}${[...problems, end].join('\n')}\n`);
    if (problems.length > 0) process.exitCode = 1;
  });
}

/** A folder outside the checkout, deleted when this process ends, also by a signal. */
export function makeScratchFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `petstore-${name}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  return folder;
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
