import { once } from 'node:events';
import { existsSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import cdkJson from '../../../cdk.json' with { type: 'json' };
import { listen } from '../../../infra/local/engine/loopback.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { runOps, startOps } from './opsProcess.ts';

const bin = 'infra/petstore.js';
const noSpace = /^The standard output cannot be written \(ENOSPC: [^\n]+\n$/;
const nothing = /^$/;
/** Runs the code as a command. */
const evaluate = (code: string) => [
  ...['--input-type=module', '--eval'],
  `import { listenForInterruption } from './infra/cli/interruption.ts';
   import { runCommand } from './infra/cli/usage.ts';
   await runCommand(async () => { ${code} });`,
];
const pause = 'await new Promise((resolve) => setTimeout(resolve, 100));';
/** A pipeline gets the error of its pipe as well. */
const pipeline = `const { Readable, promises } = await import('node:stream');
  await promises.pipeline(Readable.from(['a line\\n']), process.stdout);`;

describe('a command whose output nobody reads', () => {
  it.each([
    ['ends silently', [bin, 'keys', '--help'], 'left', 141, nothing],
    ['says so in one line', [bin, 'keys', '--help'], 'full', 1, noSpace],
    ['ends, as the local stage', [bin, 'start', '--help'], 'left', 141, nothing],
    ['reports it once', evaluate(pipeline), 'full', 1, noSpace],
    [
      'has that status, and starts no long work',
      evaluate(`process.stdout.write('a line\\n'); ${pause}
        process.stderr.write(String(listenForInterruption().status())); process.exitCode = 0;`),
      'left',
      141,
      /^141$/,
    ],
    [
      'ends long work',
      evaluate(`const { signal, status } = listenForInterruption(); process.stdout.write('a line\\n');
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, 5_000);
          signal.onabort = () => resolve(clearTimeout(timer));
        });
        process.stderr.write(String(status()));`),
      'left',
      141,
      /^141$/,
    ],
  ] as const)('%s: %j, %s', async (_, words, stdout, status, told) => {
    if (stdout === 'full' && !existsSync('/dev/full')) return;
    const outcome = await runOps(words, { stdout });
    expect(outcome).toMatchObject({ status, stderr: expect.stringMatching(told) });
  });

  it.each(['left', 'full'] as const)('ends if nobody reads its errors: %s', async (stderr) => {
    if (stderr === 'full' && !existsSync('/dev/full')) return;
    const outcome = await runOps([bin, 'keys', '--bogus'], { stderr });
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
  });
});

it.each(['keys list', 'import --inventory empty.csv', 'export --inventory saved.csv', 'night'])(
  '%s ends at once on Ctrl-C while AWS does not respond',
  async (line) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'petstore-'));
    const file = join(folder.path, 'empty.csv');
    writeFileSync(file, 'petId,quantity,status\n');
    const silent = createServer();
    const asked = once(silent, 'request');
    const variables = {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${await listen(silent, 0, '')}`,
      ...{ AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' },
    };
    const args = [bin, ...line.replace(/\S+csv/, file).split(' '), '--stage', 'staging'];
    const { child, exited } = startOps(args, { variables });
    await asked;
    child.kill('SIGINT');
    expect(await exited).toBe('SIGINT');
    silent.closeAllConnections();
    silent.close();
  },
);

describe('a command of package.json', () => {
  const tooOld = /^This needs Node\.js \d+ and runs on 23\.9\.1: run "npm ci .*\.\n$/;
  it.each([
    ['says in one line what to do', '23.9.1', [bin, 'keys'], 1, tooOld],
    ['says so before another program runs', '23.9.1', ['infra/run.js'], 1, tooOld],
    ['gets its arguments', '100.1.0', [bin, 'keys', 'list'], 2, /^Say which table/],
    ['says nothing before another program runs', '24.0.0', ['infra/run.js'], 0, nothing],
  ])('%s on Node.js %s', async (_, node, words, status, told) => {
    const version = `Object.defineProperty(process,'versions',{value:{node:'${node}'}})`;
    const variables = { NODE_OPTIONS: `--import "data:text/javascript,${version}"` };
    const outcome = await runOps(words, { variables });
    expect(outcome).toEqual({ status, stdout: '', stderr: expect.stringMatching(told) });
  });

  // Biome is not JavaScript, the SBOM's tool runs on any Node.js, and the CDK runs the app, which is added below.
  const { format: _format, sbom: _sbom, synth, deploy, ...scripts } = packageJson.scripts;
  it('looks at the version first, or has the CDK look at it', () => {
    for (const line of [...Object.values(scripts), cdkJson.app]) {
      expect(line).toMatch(/^(exec )?node infra\/(run\.js (&& .+|\S+\.ts)|petstore\.js \w+)$/);
    }
    for (const line of [synth, deploy]) expect(line).toMatch(/^cdk /);
  });
});
