import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import { runProgram } from '../../../infra/cli/program.ts';
import { type Command, runCommand } from '../../../infra/cli/usage.ts';
import { petstore } from '../../../infra/petstore.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import type { Stage } from '../../../infra/stages/stages.ts';

export interface Outcome {
  /** Or the signal that ended it. */
  readonly status: number | string;
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

/** `npx petstore NAME`, or with a function in place of its own. */
export const defineCommand =
  (name: string, run?: (options: never) => Promise<void>): Command =>
  (args) =>
    run
      ? runProgram({ [name]: async () => run } as never, [name, ...args])
      : petstore([name, ...args]);

/**
 * Runs a command in this process, for tests without signals or readers that leave.
 * @param typed the input of its terminal, or of a pipe; without it, there is neither
 * @param unwritable the error of every write to standard output
 */
export async function callOps(
  command: Command,
  args: readonly string[],
  variables: Record<string, string> = {},
  typed?: string | { readonly piped: string },
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
  const [text, isTTY] = typeof typed === 'object' ? [typed.piped, false] : [String(typed), true];
  input?.mockReturnValue(Object.assign(Readable.from([Buffer.from(text)]), { isTTY }) as never);
  try {
    await runCommand(command, [...args]);
    return { status: Number(process.exitCode ?? 0), ...written };
  } finally {
    process.exitCode = undefined;
    setVariables(before);
    for (const spy of [...spies, input]) spy?.mockRestore();
  }
}

/** What somebody sees who types a command: its line, both outputs, and its status if it is not 0. */
export function toScreen(typed: readonly string[], { status, stdout, stderr }: Outcome): string {
  const told = stderr.trimEnd().replaceAll(/^/gm, '! ');
  return [
    `$ npx petstore ${typed.join(' ')}\n${stdout}`,
    ...(stderr === '' ? [] : [`${told}\n`]),
    ...(status === 0 ? [] : [`(status ${status})\n`]),
  ].join('');
}

/** The same in one line: of each output the last line, but never an API key. */
export function toRow(typed: readonly string[], { status, stdout, stderr }: Outcome): string {
  const ends = [stdout, stderr].map((text) => text.trimEnd().split('\n').at(-1) ?? '');
  const said = ends.filter((end) => end !== '' && !end.startsWith('psk_')).join(' | ');
  return `${typed.join(' ')} → ${said}${status === 0 ? '' : ` (status ${status})`}\n`;
}

/** The output of each scenario, in turn, under its name. */
export async function playScenarios<Scenario>(
  scenarios: Readonly<Record<string, Scenario>>,
  follow: (scenario: Scenario) => Promise<string>,
): Promise<string> {
  const screens: string[] = [];
  for (const [name, scenario] of Object.entries(scenarios)) {
    screens.push(`# ${name}\n${await follow(scenario)}`);
  }
  return screens.join('\n');
}

/** The members of a document and their values; of a list or an object, the names in it. */
export function listNames(document: object): string {
  const lines = Object.entries(document).map(([name, value]) => {
    const [one] = [value].flat();
    return `${name}: ${Object(one) === one ? Object.keys(one).join(' ') : one}\n`;
  });
  return lines.join('');
}

/** Changes a stage's settings, until the test ends. */
export function changeSettings(stage: Stage, changes: Partial<StageSettings>): void {
  const { settings } = stage;
  onTestFinished(() => void Object.assign(stage, { settings }));
  Object.assign(stage, { settings: { ...settings, ...changes } });
}

function setVariables(variables: (readonly [name: string, value: string | undefined])[]): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/**
 * Returns a function that presses Ctrl-C once for the command in this process. A second Ctrl-C would end the tests,
 * and a late response must not stop the command of the next test.
 */
export function defineInterrupt(): () => void {
  let isPressed = false;
  return () => {
    if (!isPressed) process.emit('SIGINT', 'SIGINT');
    isPressed = true;
  };
}

/** The reader of an output: it reads, has left, or is a full disk. */
type Reader = 'read' | 'left' | 'full';

interface RunOptions {
  readonly variables?: Record<string, string>;
  readonly stdout?: Reader;
  readonly stderr?: Reader;
}

/** Starts a command in a process of its own, with the tests' stages, and without AWS credentials or a terminal. */
export function startOps(
  words: readonly string[],
  { variables = {}, stdout = 'read', stderr = 'read' }: RunOptions = {},
) {
  const toStdio = (reader: Reader) => (reader === 'full' ? openSync('/dev/full', 'w') : 'pipe');
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const testStages = join(import.meta.dirname, '../../support/suite/testStages.ts');
  const child: ChildProcess = spawn(process.execPath, ['--import', testStages, ...words], {
    cwd: projectRoot,
    stdio: ['ignore', toStdio(stdout), toStdio(stderr)],
    env: { PATH, NODE_COMPILE_CACHE, ...bareEnvironment, ...variables },
  });
  const written = { stdout: '', stderr: '' };
  const readers = { stdout, stderr };
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = child[name];
    const reader = readers[name];
    if (reader === 'left') stream?.destroy();
    if (reader === 'read') {
      stream?.setEncoding('utf8').on('data', (text) => {
        written[name] += text;
      });
    }
  }
  /** Or the signal that ended it. */
  const exited = once(child, 'close').then(([status, signal]): number | string => status ?? signal);
  return { child, written, exited };
}

/** Runs a command on its own to its end. */
export async function runOps(words: readonly string[], options?: RunOptions): Promise<Outcome> {
  const { written, exited } = startOps(words, options);
  return { status: await exited, ...written };
}
