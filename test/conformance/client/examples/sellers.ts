import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ConformanceTarget } from '../../target.ts';

const examples = join(import.meta.dirname, '../../../../shared/client/examples');

type Service = Pick<ConformanceTarget, 'baseUrl' | 'apiKey'>;

export const hasCurl = spawnSync('curl', ['--version']).status === 0;

const path = spawnSync('python3', ['-c', 'import sys; print(sys.executable)']).stdout;
/**
 * Python's own file, or '' without one: `python3` may be a script that looks for it, and takes as long as an example.
 */
export const python = `${path ?? ''}`.trim();

// No example needs what is installed beside Python, which takes time to find.
const interpreters = { 'curl.sh': ['sh'], 'sell.py': [python, '-S'] } as const;

/** An example that adjusts once, without the client. */
export type Seller = keyof typeof interpreters;

/** Those that this machine can run. */
export const installed = (Object.keys(interpreters) as Seller[]).filter((file) =>
  file === 'curl.sh' ? hasCurl : python,
);

/** A seller's exit status. */
export const [DONE, REFUSED, UNKNOWN, WRONG] = [0, 1, 2, 3];

export interface Ended {
  /** The exit status. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Environment variables. */
  readonly variables?: Readonly<Record<string, string>>;
  /** In the shell's words, such as `>/dev/full`. */
  readonly redirection?: string;
}

/** @param words the key, then the pets with what is added to each */
export function runSeller(
  { baseUrl, apiKey }: Service,
  file: Seller,
  words: readonly unknown[],
  { variables, redirection = '' }: RunOptions = {},
): Promise<Ended> {
  const env = { ...process.env, BASE_URL: baseUrl, API_KEY: apiKey, ...variables };
  const program = [...interpreters[file], join(examples, file), ...words.map(String)];
  const command = ['-c', `exec "$@" ${redirection}`, 'sh', ...program];
  return new Promise((resolve) => {
    const child = execFile('sh', command, { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** A step as the shop lists it. */
export interface Step {
  readonly key: string;
  readonly deltas: string;
  readonly state: 'open' | 'done' | 'refused';
  readonly reason: string | null;
}

export type Shop = Awaited<ReturnType<typeof startShop>>;

/** Starts `shop.ts` as a process of its own, and waits until it listens. */
export async function startShop({ baseUrl, apiKey }: Service, database: string) {
  const env = { ...process.env, BASE_URL: baseUrl, API_KEY: apiKey, DATABASE: database };
  const child = spawn(process.execPath, [join(examples, 'shop.ts')], {
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk;
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const address = /http:\S+/.exec(line)?.[0] ?? '';
  return {
    /** @param path begins after `/orders` */
    async call(method: string, path: string, body?: unknown) {
      const content = typeof body === 'string' ? body : JSON.stringify(body);
      const init = { method, ...(body !== undefined && { body: content }) };
      const response = await fetch(`${address}/orders${path}`, init);
      return { status: response.status, body: await response.json() };
    },
    async listSteps(order: string): Promise<Step[]> {
      return (await fetch(`${address}/orders/${order}`)).json() as Promise<Step[]>;
    },
    /** What it has written to its standard error. */
    readErrors: () => errors,
    async kill(): Promise<void> {
      child.kill('SIGKILL');
    },
  };
}
