import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import { type Command, runCommand } from '../../../infra/cli/usage.ts';

export interface Outcome {
  /** `null` when a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
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
 * Runs a command in this process: for all but sudden ends and readers that leave.
 * @param typed what is typed on its terminal; without it there is none
 * @param unwritable what every write to the standard output fails with
 */
export async function callOps(
  command: Command,
  args: readonly string[],
  variables: Record<string, string> = {},
  typed?: string,
  unwritable?: Error,
): Promise<Outcome> {
  const written = { stdout: '', stderr: '' };
  const environment = Object.entries({ ...bareEnvironment, ...variables });
  const before = environment.map(([name]) => [name, process.env[name]] as const);
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk, ...[done]: unknown[]) => {
      written[name] += String(chunk);
      if (typeof done === 'function') done(name === 'stdout' ? unwritable : undefined);
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

/**
 * What presses Ctrl-C at its first call, for the command that runs in this process, and then never again: a second
 * time would end the tests, and a request that is answered late must not stop the next test's command.
 */
export function defineInterrupt(): () => void {
  let isPressed = false;
  return () => {
    if (!isPressed) process.emit('SIGINT', 'SIGINT');
    isPressed = true;
  };
}

/** Calls a command whose arguments make no sense: that is one line with the message, and status 2. */
export async function expectRefusal(
  command: Command,
  args: readonly string[],
  message: string,
): Promise<void> {
  const { status, stdout, stderr } = await callOps(command, args);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(message);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
}

/** Where an output goes: to somebody who reads it, has left, or leaves at the first of it; or to a full disk. */
type Reader = 'read' | 'left' | 'leaves' | 'full';

export interface RunOptions {
  readonly variables?: Record<string, string>;
  /** Gets the process once it runs. */
  readonly onStart?: (child: ChildProcess) => void;
  readonly stdout?: Reader;
  readonly stderr?: Reader;
}

/** A command of the project on its own, without AWS credentials and without a terminal. */
export async function runOps(
  script: string,
  args: readonly string[],
  { variables = {}, onStart, stdout = 'read', stderr = 'read' }: RunOptions = {},
): Promise<Outcome> {
  const toStdio = (reader: Reader) => (reader === 'full' ? openSync('/dev/full', 'w') : 'pipe');
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['pipe', toStdio(stdout), toStdio(stderr)],
    env: { PATH, NODE_COMPILE_CACHE, ...bareEnvironment, ...variables },
  });
  child.stdin?.end();
  onStart?.(child);
  const read = (reader: Reader, stream: Readable | null) => {
    if (reader === 'left') stream?.destroy();
    if (reader === 'leaves') stream?.once('data', () => stream.destroy());
    return reader === 'read' && stream ? text(stream) : '';
  };
  const [printed, told, [status]] = await Promise.all([
    read(stdout, child.stdout),
    read(stderr, child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { status, stdout: printed, stderr: told };
}

/** As `runOps`, for a reader that leaves: before there is any output, or at the first of it, as `head` does. */
export async function runUnread(
  script: string,
  args: readonly string[],
  leaves: 'before' | 'atFirst',
  variables: Record<string, string> = {},
): Promise<Omit<Outcome, 'stdout'>> {
  const stdout = leaves === 'before' ? 'left' : 'leaves';
  const { status, stderr } = await runOps(script, args, { variables, stdout });
  return { status, stderr };
}
