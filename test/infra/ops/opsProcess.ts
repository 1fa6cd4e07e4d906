import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { type Command, runCommand } from '../../../infra/cli/usage.ts';

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
  /** What comes by its standard input. */
  readonly piped?: string;
}

/** The environment of a person without AWS credentials. */
const bareEnvironment = {
  HOME: '/nonexistent',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_ACCESS_KEY_ID: undefined,
  AWS_SECRET_ACCESS_KEY: undefined,
  AWS_REGION: undefined,
  AWS_DEFAULT_REGION: undefined,
  AWS_ENDPOINT_URL_DYNAMODB: undefined,
};

/**
 * Runs a command in this process: for all but signals and sudden ends.
 * @param typed what is typed on its terminal; without it there is none
 */
export async function callOps(
  command: Command,
  args: readonly string[],
  variables: Record<string, string> = {},
  typed?: string,
): Promise<Outcome> {
  const written = { stdout: '', stderr: '' };
  const environment = Object.entries({ ...bareEnvironment, ...variables });
  const before = environment.map(([name]) => [name, process.env[name]] as const);
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk, ...[done]: unknown[]) => {
      written[name] += String(chunk);
      if (typeof done === 'function') done();
      return true;
    }),
  );
  setVariables(environment);
  const input = typed === undefined ? undefined : vi.spyOn(process, 'stdin', 'get');
  input?.mockReturnValue(Object.assign(Readable.from([typed]), { isTTY: true }) as never);
  try {
    await runCommand(command, [...args]);
    return { status: Number(process.exitCode ?? 0), ...written };
  } finally {
    process.exitCode = undefined;
    setVariables(before);
    for (const spy of [...spies, input]) spy?.mockRestore();
  }
}

function setVariables(variables: (readonly [name: string, value: string | undefined])[]): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** A command of the project on its own, without AWS credentials and without a terminal. */
export async function runOps(
  script: string,
  args: readonly string[],
  { variables = {}, onStart, piped }: RunOptions = {},
): Promise<Outcome> {
  const child = start([script, ...args], variables);
  child.stdin.end(piped);
  onStart?.(child);
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { status, stdout, stderr };
}

/** As `runOps`, for a reader that leaves: before there is any output, or at the first of it, as `head` does. */
export async function runUnread(
  script: string,
  args: readonly string[],
  leaves: 'before' | 'atFirst',
  variables: Record<string, string> = {},
): Promise<Omit<Outcome, 'stdout'>> {
  const child = start([script, ...args], variables);
  if (leaves === 'before') child.stdout.destroy();
  else child.stdout.once('data', () => child.stdout.destroy());
  const [stderr, [status]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { status, stderr };
}

function start(words: readonly string[], variables: Record<string, string>) {
  return spawn(process.execPath, [...words], {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      AWS_EC2_METADATA_DISABLED: 'true',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...variables,
    },
  });
}
