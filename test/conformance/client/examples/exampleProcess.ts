import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const examples = join(import.meta.dirname, '../../../../shared/client/examples');

export interface ExampleServer {
  /** Where it says that it is. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts a server as its reader would, on a port of its own. */
export async function startExample(
  file: string,
  settings: Record<string, string>,
): Promise<ExampleServer> {
  const child = spawn(process.execPath, [join(examples, file)], {
    env: { ...process.env, ...settings, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const line = once(createInterface(child.stdout), 'line');
  const [first] = await Promise.race([line, ended]);
  const [address] = /http:\S+/.exec(String(first)) ?? [];
  if (address === undefined) throw new Error(`${file} did not start: ${first}`);
  return {
    address,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** Runs a script to its end, by a shell or by Node.js, and gives what it wrote. */
export async function runExample(
  file: string,
  settings: Record<string, string>,
  ...args: string[]
): Promise<string> {
  const env = { ...process.env, ...settings };
  const program = file.endsWith('.ts') ? process.execPath : 'sh';
  return (await promisify(execFile)(program, [join(examples, file), ...args], { env })).stdout;
}
