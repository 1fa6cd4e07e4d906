import { exec, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  globSync,
  mkdtempDisposableSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import cdkJson from '../../../cdk.json' with { type: 'json' };
import { type CommandText, commandNames, commands } from '../../../infra/cli/commands.ts';
import { MAX_REQUESTS } from '../../../infra/ops/smoke/smokeClient.ts';
import { petstore } from '../../../infra/petstore.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { operationIds } from '../../../shared/contract/operations.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { serve } from './aws.ts';
import { callOps, runOps, startOps } from './opsProcess.ts';

const { write } = openTemporaryFolder();

const wholeKey = `psk_0123456789${'x'.repeat(32)}`;

/** The beginnings and ends of invalid command lines; `refusals.txt` has what is said of each. */
const refused = [
  ['', 'imprt', 'toString', '--stage staging', 'night --stge production', 'smoke --stage toString'],
  ['keys', 'rotat', wholeKey, 'list', 'list --stage staging --endpoint http://127.0.0.1:9'],
  // An option of another subcommand.
  ['keys', 'list --grace 1h'],
  ['keys list --endpoint', 'nowhere', 'ftp://a'],
  ['keys list --expiring', 'soon', '-1h', '3654d'],
  ['keys revoke --endpoint http://127.0.0.1:9', 'abcdefghijk', wholeKey, `${wholeKey} more`],
  ['keys revoke', '--endpoint http://127.0.0.1:9'],
  ['keys create --permission read --name', 'a\tb', '', 'a'.repeat(65)],
  ['keys create --name a --permission read --expires', '90', '0s', '2027-02-30', '2026-01-31'],
  ['keys create --name a --permission read --expires', '2027-01-31T18:00:00', '31.1.2027'],
  ['logs', '--since 1h', '--stage', '--stage staging surplus', '-x'],
  ['logs --stage staging --request', 'r-1 --key k', 'r-1 --follow', 'r-1 --status 5xx', 'a\tb'],
  ['logs --stage staging', `--request ${wholeKey}`, `--key ${wholeKey}`, '--key a"b'],
  ['logs --stage staging --status', '6xx', '50x'],
  ['rollback --stage staging --to', 'short', 'getPets=1', 'getPet=0', 'aaaaaaaaaaa1 getPet=2'],
  ['restore', '--stage staging --at latest', '--table pets requests'],
  ['restore --stage staging --at latest', '--table pets --table orders --from first'],
  ['restore --stage staging --table pets --at', '2026-11-20', '2026-11-20T09:59:00'],
  ['restore --stage staging --table pets --at', '2026-02-30T09:59:00Z'],
  ['restore --stage staging --table pets --at', '2026-11-20T09:59:00+99:00'],
  ['import --max-wcu', '0', '1.5', '10000000'],
  [
    '',
    'smoke',
    'smoke --base-url http://example.com/v1',
    'smoke --base-url https://example.com/v2',
  ],
  ['smoke --base-url', 'https://example.com/v1?a=/v1', 'https://example.com/v1'],
  ['smoke --base-url https://example.com/v1', '--stage staging', '--expect-commit'],
  ['costs', 'moth', 'reconcile --json', 'reconcile x.csv --from 2026-11-01', 'month --growht 5%'],
  ['costs by-key --from', '2026-11-31', '2026-11'],
  ['costs month --entries', '1e3', '-1'],
  ['costs month --shops', '2', '+x'],
  ['costs month --months', 'x', '0', '61'],
  ['costs month --growth', 'x', '-101%'],
  ['costs reconcile x.csv --tolerance', 'much', '-1%'],
  ['costs prices --region', '../x', 'europe'],
  ['start --port', '65536', '80x', '-1', ''],
  ['start --lose', '2', '-0.1', '1.1'],
  ['start --delay', '200', '30s'],
  ['start --fail', '503', '200:0.1', '503:1.5', '503:0.6 --fail 429:0.5'],
].flatMap(([begin = '', ...ends]) =>
  ends.map((end) => [...(begin === '' ? [] : begin.split(' ')), ...end.split(' ')]),
);

describe('petstore', () => {
  test.each(['', 'help', '--help', '-h'])('%j lists the commands', async (typed) => {
    const { status, stdout } = await callOps(petstore, typed.split(' ').filter(Boolean));
    expect(status).toBe(0);
    for (const name of commandNames) expect(stdout).toMatch(new RegExp(`^  ${name} .*[A-Z]`, 'm'));
  });

  it('refuses each invalid command line in one line, with status 2', async () => {
    const screens: string[] = [];
    for (const typed of refused) {
      const { status, stdout, stderr } = await callOps(petstore, typed);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^[^\n]+\n$/);
      expect(stderr).not.toContain(wholeKey);
      screens.push(`$ petstore ${typed.join(' ').trimEnd()}\n${stderr}`);
    }
    const screen = screens.join('\n').replaceAll(operationIds.join(', '), 'EVERY OPERATION');
    await expect(screen).toMatchFileSnapshot('refusals.txt');
  });

  it('is a command that npx finds, and says its version', async () => {
    const file = packageJson.bin.petstore;
    accessSync(join(projectRoot, file), constants.X_OK);
    const version = { status: 0, stdout: `${packageJson.version}\n`, stderr: '' };
    expect(await runOps([file, '--version'])).toEqual(version);
  });

  it('reads files of the folder where npx is typed', async () => {
    const cwd = join(projectRoot, 'infra/ops');
    const file = relative(cwd, write('here.jsonl', '{"id":1}\n'));
    const typed = `npx petstore import --pets ${file} --endpoint http://127.0.0.1:9`;
    await expect(promisify(exec)(typed, { cwd })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('connect ECONNREFUSED 127.0.0.1:9'),
    });
  });
});

const helps = Object.entries<CommandText>(commands).flatMap(([name, text]) => [
  [name, text] as const,
  ...Object.entries(text.subcommands ?? {}).map(([word, one]) => [`${name} ${word}`, one] as const),
]);

it.each(helps)('the help of %s has every option, and fits 80 columns', async (name, text) => {
  const words = name.split(' ');
  const help = await callOps(petstore, [...words, '--help']);
  expect(help).toMatchObject({ status: 0, stderr: '' });
  expect(help.stdout).toMatch(`Usage: npx petstore ${name}`);
  for (const line of help.stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  const named = [...help.stdout.matchAll(/^ {2}--([\w-]+)/gm)].map(([, option]) => option);
  expect(named).toEqual(Object.keys(text.options ?? {}));
  expect(await callOps(petstore, ['help', ...words])).toEqual(help);
  if (text.subcommands) expect(await callOps(petstore, words)).toMatchObject({ status: 0 });
});

it('the help of smoke states how many requests it sends', () => {
  expect(commands.smoke.about.join(' ')).toContain(`at most ${MAX_REQUESTS} requests`);
});

it('every line of petstore in a text has a command and options that exist', () => {
  const pattern = ['*.{md,toml}', '.github/**/*.yml', '{infra,shared,test}/**/*.{md,ts,txt}'];
  const lines = globSync(pattern, { cwd: projectRoot }).flatMap((file) => [
    ...readFileSync(join(projectRoot, file), 'utf8').matchAll(
      /npx petstore ([a-z][\w-]*)(?: ([a-z][\w-]*))?([^\n`'"|#)…]*)/g,
    ),
  ]);
  expect(lines.length).toBeGreaterThan(100);
  for (const [line, name = '', word, words = ''] of lines) {
    const texts = new Map<string, CommandText>(helps);
    const group = texts.get(name);
    const text = texts.get(`${name} ${word}`) ?? texts.get(`${name} ${group?.default}`) ?? group;
    if (name !== 'help') expect(text, line).toBeDefined();
    for (const [, option = ''] of words.matchAll(/--(?!help\b)([\w-]+)/g)) {
      expect(text?.options, line).toHaveProperty(option);
    }
  }
});

it('the completion for bash offers commands, options and values', async () => {
  const completed: [words: string[], offered: string][] = [
    [['petstore', 'im'], 'import'],
    [['npx', 'petstore', 'ro'], 'rollback'],
    [['npx', 'pet'], 'petstore'],
    [['npx', 'vitest', 'im'], ''],
    [['npx', 'petstore', 'keys', 'ro'], 'rotate'],
    [['npx', 'petstore', 'keys', 'rotate', '--gr'], '--grace'],
    [['petstore', 'keys', 'revoke', '0123456789', '--gr'], ''],
    [['petstore', 'help', 'res'], 'restore'],
    [['petstore', 'import', '--ov'], '--overwrite'],
    [['petstore', 'import', '--he'], '--help'],
    // Nothing of ours, so that the shell offers files.
    [['petstore', 'import', '--inventory', ''], ''],
    [['petstore', 'start', '--dir', ''], ''],
    [['petstore', 'costs', 'month', '--traffic', ''], ''],
    [['petstore', 'logs', '--stage', ''], 'staging production'],
    [['npx', 'petstore', 'keys', 'create', '--permission', 'w'], 'write'],
  ];
  const { stdout } = await callOps(petstore, ['completion', 'bash']);
  const completions = completed.map(([words]) => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _petstore; echo "\${COMPREPLY[*]}"`;
  });
  const script = [stdout, ...completions].join('\nCOMPREPLY=()\n');
  const printed = execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  expect(printed.trimEnd().split('\n')).toEqual(completed.map(([, offered]) => offered));
});

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

it.each([
  ['ends silently', [bin, 'keys', '--help'], { stdout: 'left' }, 141, nothing],
  ['says so in one line', [bin, 'keys', '--help'], { stdout: 'full' }, 1, noSpace],
  ['reports it once', evaluate(pipeline), { stdout: 'full' }, 1, noSpace],
  [
    'has that status, and starts no long work',
    evaluate(`process.stdout.write('a line\\n'); ${pause}
      process.stderr.write(String(listenForInterruption().status())); process.exitCode = 0;`),
    ...([{ stdout: 'left' }, 141, /^141$/] as const),
  ],
  [
    'ends long work',
    evaluate(`const { signal, status } = listenForInterruption(); process.stdout.write('a line\\n');
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 5_000);
        signal.onabort = () => resolve(clearTimeout(timer));
      });
      process.stderr.write(String(status()));`),
    ...([{ stdout: 'left' }, 141, /^141$/] as const),
  ],
  ['ends without its errors', [bin, 'keys', '--bogus'], { stderr: 'left' }, 2, nothing],
  ['ends with a full disk', [bin, 'keys', '--bogus'], { stderr: 'full' }, 2, nothing],
] as const)('a command whose output nobody reads %s', async (_, words, readers, status, told) => {
  if (Object.values(readers).includes('full') && !existsSync('/dev/full')) return;
  const outcome = await runOps(words, readers);
  expect(outcome).toEqual({ status, stdout: '', stderr: expect.stringMatching(told) });
});

it.each(['keys list', 'import --inventory empty.csv', 'export --inventory saved.csv', 'night'])(
  '%s ends at once on Ctrl-C while AWS does not respond',
  async (line) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'petstore-'));
    const file = join(folder.path, 'empty.csv');
    writeFileSync(file, 'petId,quantity,status\n');
    using silent = await serve();
    const asked = once(silent.server, 'request');
    const variables = {
      AWS_ENDPOINT_URL: silent.address,
      ...{ AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' },
    };
    const args = [bin, ...line.replace(/\S+csv/, file).split(' '), '--stage', 'staging'];
    const { child, exited } = startOps(args, { variables });
    await asked;
    child.kill('SIGINT');
    expect(await exited).toBe('SIGINT');
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
