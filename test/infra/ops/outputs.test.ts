import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { type Answers, startAws } from './aws.ts';
import { commands } from './commands.ts';
import { defineRecoverableTables } from './restore/recoverableTables.ts';
import { defineDeployedFunctions } from './rollback/deployedFunctions.ts';

/** A disk that is full, which only Linux has at hand. */
const full = existsSync('/dev/full') ? openSync('/dev/full', 'w') : undefined;
const readers: Reader[] = full === undefined ? ['left'] : ['left', 'full'];
const rollback = ['infra/ops/rollback/rollback.ts', '--stage', 'production'];
const restore = ['infra/ops/restore/restore.ts', '--stage', 'production', '--table', 'pets'];

/** Where an output goes: to somebody who reads it, or has left, or to a full disk. */
type Reader = 'read' | 'left' | 'full';
interface Outputs {
  readonly stdout?: Reader;
  readonly stderr?: Reader;
}

async function run(
  args: readonly string[],
  { stdout = 'read', stderr = 'read' }: Outputs,
  variables: Record<string, string> = {},
) {
  const toStdio = (reader: Reader) => (reader === 'full' && full !== undefined ? full : 'pipe');
  const child = spawn(process.execPath, args, {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['pipe', toStdio(stdout), toStdio(stderr)],
    env: {
      HOME: '/nonexistent',
      AWS_EC2_METADATA_DISABLED: 'true',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...variables,
    },
  });
  if (stdout === 'left') child.stdout?.destroy();
  if (stderr === 'left') child.stderr?.destroy();
  const read = (reader: Reader, stream: NodeJS.ReadableStream | null) =>
    reader === 'read' && stream ? text(stream) : '';
  const [printed, told, [status]] = await Promise.all([
    read(stdout, child.stdout),
    read(stderr, child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { status, stdout: printed, stderr: told };
}

// What every command has from `runCommand`, and what the local stage has by itself.
describe.each(commands.filter(({ name }) => ['keys', 'start'].includes(name)))(
  'npm run $name',
  ({ script }) => {
    it('ends without a word when its reader has left', async () => {
      expect(await run([script, '--help'], { stdout: 'left' })).toMatchObject({
        status: 141,
        stderr: '',
      });
    });

    it.skipIf(full === undefined)('says in one line that the disk is full', async () => {
      const { status, stderr } = await run([script, '--help'], { stdout: 'full' });
      expect(stderr).toMatch(/^The standard output cannot be written \(ENOSPC: [^\n]+\n$/);
      expect(status).toBe(1);
    });

    it.each(readers)('ends where its errors go to nobody: %s', async (stderr) => {
      expect(await run([script, '--bogus'], { stderr })).toMatchObject({ status: 2, stdout: '' });
    });
  },
);

describe('a command whose reader leaves', () => {
  let close = () => {};
  afterEach(() => close());

  async function open(answers: Answers) {
    const aws = await startAws(answers);
    close = () => void aws.close();
    return aws;
  }

  it.each([
    ['has that for its status, also where it sets one of its own', 'process.exitCode = 0', 141],
    [
      'does not begin what takes long',
      'process.exitCode = listenForInterruption().status() - 1',
      140,
    ],
  ])('%s', async (_, later, status) => {
    const code = `import { listenForInterruption } from './infra/cli/interruption.ts';
      import { runCommand } from './infra/cli/usage.ts';
      await runCommand(async () => {
        process.stdout.write('a line\\n');
        await new Promise((resolve) => setTimeout(resolve, 100));
        ${later};
      });`;
    const outcome = await run(['--input-type=module', '--eval', code], { stdout: 'left' });
    expect(outcome).toMatchObject({ status, stderr: '' });
  });

  it.each([
    ['left', /^$/, 141],
    ['full', /^The standard output cannot be written [^\n]+\n$/, 1],
  ] as const)(
    'is not told so twice by what it writes at length: %s',
    async (stdout, told, status) => {
      if (!readers.includes(stdout)) return;
      const code = `import { Readable } from 'node:stream';
      import { pipeline } from 'node:stream/promises';
      import { runCommand } from './infra/cli/usage.ts';
      await runCommand(() => pipeline(Readable.from(['a line\\n']), process.stdout));`;
      const outcome = await run(['--input-type=module', '--eval', code], { stdout });
      expect(outcome).toMatchObject({ status, stderr: expect.stringMatching(told) });
    },
  );

  it('moves all aliases all the same', async () => {
    const deployed = defineDeployedFunctions();
    const aws = await open(deployed.answers);
    const { status } = await run([...rollback, '--yes'], { stdout: 'left' }, aws.variables);
    expect(new Set(Object.values(deployed.live()))).toEqual(new Set(['2']));
    expect(status).toBe(141);
  });

  it('does not wait for an answer to a question that nobody sees', async () => {
    const aws = await open(defineDeployedFunctions().answers);
    const terminal = ['--import', 'data:text/javascript,process.stdin.isTTY=true'];
    const { status } = await run([...terminal, ...rollback], { stderr: 'left' }, aws.variables);
    expect(aws.inputsOf('UpdateAlias')).toEqual([]);
    expect(status).toBe(141);
  });

  it('waits for nothing else either', async () => {
    const aws = await open(defineRecoverableTables().answers);
    const args = [...restore, '--at', '2026-11-20T09:59:00Z'];
    const { status } = await run(args, { stderr: 'left' }, aws.variables);
    expect(aws.inputsOf('RestoreTableToPointInTime')).toHaveLength(1);
    expect(aws.inputsOf('UpdateContinuousBackups')).toEqual([]);
    expect(status).toBe(141);
  });
});
