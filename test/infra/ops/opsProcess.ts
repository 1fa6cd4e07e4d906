import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface Outcome {
  /** `null` when a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly variables?: Record<string, string>;
  /** Gets the process once it runs. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** A command of the project on its own, without a terminal and without AWS credentials. */
export async function runOps(
  script: string,
  args: readonly string[],
  { variables = {}, onStart }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...variables,
    },
  });
  onStart?.(child);
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { status, stdout, stderr };
}
