import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ConformanceTarget } from '../../target.ts';

const examples = join(import.meta.dirname, '../../../../shared/client/examples');

/** Runs an example against a target. @returns its output */
export async function runExample(
  { baseUrl, apiKey }: Pick<ConformanceTarget, 'baseUrl' | 'apiKey'>,
  program: string,
  file: string,
  args: readonly unknown[] = [],
  variables = {},
  signal?: AbortSignal,
): Promise<string> {
  const env = { ...process.env, BASE_ADDRESS: baseUrl, API_KEY: apiKey, ...variables };
  const options = { env, signal, killSignal: 'SIGKILL' } as const;
  const words = [join(examples, file), ...args.map(String)];
  return (await promisify(execFile)(program, words, options)).stdout;
}

const interpreters = { 'curl.sh': 'sh', 'sell.py': 'python3' };
const tools = { 'curl.sh': 'curl', 'sell.py': 'python3' };

/** An example that sells one piece, without the client. */
export type Seller = keyof typeof tools;

/** Those that this machine can run. */
export const installed = (Object.keys(tools) as Seller[]).filter(
  (file) => spawnSync(tools[file], ['--version']).status === 0,
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
