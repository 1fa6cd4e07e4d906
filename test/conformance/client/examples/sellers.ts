import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ConformanceTarget } from '../../target.ts';

const examples = join(import.meta.dirname, '../../../../shared/client/examples');

/** Runs an example against a target. @returns its output */
export async function runExample(
  { baseUrl, apiKey }: Pick<ConformanceTarget, 'baseUrl' | 'apiKey'>,
  [program = '', ...options]: readonly string[],
  file: string,
  args: readonly unknown[] = [],
  variables = {},
  signal?: AbortSignal,
): Promise<string> {
  const env = { ...process.env, BASE_ADDRESS: baseUrl, API_KEY: apiKey, ...variables };
  const words = [...options, join(examples, file), ...args.map(String)];
  const settings = { env, signal, killSignal: 'SIGKILL' } as const;
  return (await promisify(execFile)(program, words, settings)).stdout;
}

export const hasCurl = spawnSync('curl', ['--version']).status === 0;

const path = spawnSync('python3', ['-c', 'import sys; print(sys.executable)']).stdout;
/**
 * Python's own file, or '' without one: `python3` may be a script that looks for it, and takes as long as an example.
 */
export const python = `${path ?? ''}`.trim();

// No example needs what is installed beside Python, which takes time to find.
const interpreters = { 'curl.sh': ['sh'], 'sell.py': [python, '-S'] };

/** An example that sells one piece, without the client. */
export type Seller = keyof typeof interpreters;

/** Those that this machine can run. */
export const installed = (Object.keys(interpreters) as Seller[]).filter((file) =>
  file === 'curl.sh' ? hasCurl : python,
);

/** @param args the pet and the order */
export function runSeller(
  target: Pick<ConformanceTarget, 'baseUrl' | 'apiKey'>,
  file: Seller,
  args: readonly unknown[],
  variables = {},
  signal?: AbortSignal,
): Promise<string> {
  return runExample(target, interpreters[file], file, args, variables, signal);
}
