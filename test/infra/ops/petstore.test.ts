import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import {
  type CommandName,
  type CommandText,
  commandNames,
  commands,
} from '../../../infra/cli/commands.ts';
import { toHelp, toOverview } from '../../../infra/cli/help.ts';
import { refuseSwallowed } from '../../../infra/cli/swallowedOptions.ts';
import { MAX_REQUESTS } from '../../../infra/ops/smoke/smokeClient.ts';
import { petstore } from '../../../infra/petstore.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps, expectRefusal, runOps, startOps } from './opsProcess.ts';

const { folder, write } = openTemporaryFolder();
const root = join(import.meta.dirname, '../../..');

describe('petstore', () => {
  test.each([[[]], [['help']], [['--help']]])('%j lists the commands', async (args) => {
    const { status, stdout } = await callOps(petstore, args);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${toOverview(80)}\n` });
    for (const name of commandNames) expect(stdout).toMatch(new RegExp(`^  ${name} +[A-Z]`, 'm'));
  });

  test.each([
    [['imprt'], 'There is no command "imprt". The commands are import, '],
    [['help', 'rolback'], 'There is no command "rolback". The commands are rollback, '],
    [['toString'], 'There is no command "toString".'],
    [['--stage', 'staging'], 'There is no command "--stage".'],
    [['help', 'keys', 'list', 'x'], 'help takes one command.'],
    [['help', 'keys', 'ls'], 'There is no command "keys ls". The commands are create, '],
    [['completion', 'fish'], 'completion takes bash or zsh'],
  ])('%j is refused', async (args, message) => {
    await expectRefusal(petstore, args, message);
  });

  it('is a command that npx finds, and says its version', async () => {
    const file = packageJson.bin.petstore;
    accessSync(join(root, file), constants.X_OK);
    const version = { status: 0, stdout: `${packageJson.version}\n`, stderr: '' };
    expect(await runOps([file, '--version'])).toEqual(version);
  });

  it('starts a stage whose addresses and keys a machine can read', async () => {
    const start = startOps(['infra/petstore.js', 'start', '--port', '0', '--json']);
    onTestFinished(() => void start.child.kill('SIGKILL'));
    await vi.waitFor(() => expect(start.written.stdout).toMatch(/\n/), 20_000);
    const { baseUrl, readKey, ...others } = JSON.parse(start.written.stdout);
    expect(Object.keys(others)).toEqual(['apiKey', 'documentationAddress']);
    const response = await fetch(`${baseUrl}/inventory`, {
      headers: { Authorization: `Bearer ${readKey}` },
    });
    expect(await response.json()).toHaveLength(50);
    start.child.kill('SIGINT');
    expect(await start.exited).toBe(0);
  });

  it('is what the scripts of package.json run', () => {
    const scripts = commandNames.filter((name) => !['completion', 'help'].includes(name));
    for (const name of scripts) {
      const line = `node infra/petstore.js ${name}`;
      expect([line, `exec ${line}`]).toContain(
        Object.entries(packageJson.scripts).find(([key]) => key === name)?.[1],
      );
    }
  });

  it.each([
    ['a script of npm, which runs in another folder', 'import', /ECONNREFUSED/],
    ['no script of npm', 'test', /ENOENT/],
  ])('finds files in the folder of the person with %s', async (_, script, message) => {
    write('here.jsonl', '{"id":1}\n');
    const variables = { npm_lifecycle_event: script, INIT_CWD: folder };
    const typed = ['import', '--pets', 'here.jsonl', '--endpoint', 'http://127.0.0.1:9'];
    const outcome = await runOps(['infra/petstore.js', ...typed], { variables });
    expect(outcome).toMatchObject({ status: 1, stderr: expect.stringMatching(message) });
  });
});

it('the help of smoke states how many requests it sends', () => {
  expect(toHelp('smoke', undefined, 200)).toContain(`at most ${MAX_REQUESTS} requests`);
});

const subcommandsOf = (name: CommandName): NonNullable<CommandText['subcommands']> =>
  (commands[name] as CommandText).subcommands ?? {};
type Help = readonly [name: CommandName, subcommand: string | undefined, text: CommandText];
const helps = commandNames.flatMap((name): Help[] => [
  [name, undefined, commands[name]],
  ...Object.entries(subcommandsOf(name)).map(([word, text]) => [name, word, text] as const),
]);
describe.each<Help>(helps)('the help of %s %s', (name, subcommand, text) => {
  it('fits 60 columns and has every option', () => {
    const help = toHelp(name, subcommand, 60);
    for (const line of [...help.split('\n'), ...toOverview(60).split('\n')]) {
      expect(line.length, line).toBeLessThanOrEqual(60);
    }
    const named = [...help.matchAll(/^ {2}--([\w-]+)/gm)].map(([, option]) => option);
    expect(named).toEqual(Object.keys(text.options));
  });
});

it.each(readLines('infra/ops/README.md', 'README.md', 'infra/RUNBOOK.md'))('takes `%s`', (line) => {
  const [, , name, word = '', ...words] = line.split(' ') as [string, string, CommandName, string];
  expect(commandNames).toContain(name);
  const own = word in subcommandsOf(name) ? word : undefined;
  for (const [option] of [word, ...words].join(' ').matchAll(/--[\w-]+/g)) {
    expect(toHelp(name, own, 80)).toContain(`  ${option}`);
  }
});

function readLines(...files: string[]): string[] {
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));
  return [...texts.join('\n').matchAll(/npx petstore [a-z][^\n`|#)…]+/g)].map(([line]) =>
    line.trim(),
  );
}

describe('an option that npm took', () => {
  const script = (name: string, options: object) => ({ npm_lifecycle_event: name, ...options });
  const npx = (options: object) => ({
    npm_lifecycle_event: 'npx',
    npm_lifecycle_script: "'petstore'",
    ...options,
  });

  test.each([
    ['costs', [], { npm_config_worst_case: 'true' }, 'costs -- --worst-case'],
    [
      'import',
      ['--pets', 'a b'],
      { npm_config_dry_run: 'true' },
      "import -- --pets 'a b' --dry-run",
    ],
    [
      'import',
      ['pets.jsonl'],
      { npm_config_dry_run: 'true', npm_config_pets: 'true' },
      'import -- --dry-run --pets pets.jsonl',
    ],
    [
      'import',
      ['a', 'b'],
      { npm_config_pets: 'true', npm_config_orders: 'true' },
      'import -- --pets PETS --orders ORDERS',
    ],
    ['smoke', [], { npm_config_stage: 'staging' }, 'smoke -- --stage staging'],
    [
      'smoke',
      ['staging', '7'],
      { npm_config_entry: 'true', npm_config_stage: 'true' },
      'smoke -- --entry 7 --stage staging',
    ],
    [
      'restore',
      ['pets', 'orders'],
      { npm_config_table: 'true\n\ntrue' },
      'restore -- --table pets --table orders',
    ],
    ['keys', ['list', 'staging'], { npm_config_stage: 'true' }, 'keys -- list --stage staging'],
    [
      'keys',
      ['show', 'psk_0123', 'staging'],
      { npm_config_stage: 'true' },
      'keys -- show KEY --stage staging',
    ],
    [
      'rollback',
      ['production'],
      { npm_config_stage: 'true', npm_config_token_description: 'getPet=12' },
      'rollback -- --stage production --to getPet=12',
    ],
  ] as const)('is refused with the line to type: %s %j %j', (name, args, taken, line) => {
    const refuse = () => refuseSwallowed(name, args, script(name, taken));
    expect(refuse).toThrow(`: npm run ${line}`);
  });

  it.each([
    [
      'npm start --port 4000',
      'start',
      ['4000'],
      script('start', { npm_config_port: 'true' }),
      ': npm start -- --port 4000',
    ],
    [
      'npm exec petstore import --dry-run',
      'import',
      [],
      npx({ npm_config_dry_run: 'true' }),
      'Type this: npx petstore import --dry-run',
    ],
    [
      'an option whose neighbour npm drops',
      'keys',
      ['create', 'till'],
      script('keys', { npm_config_name: 'till' }),
      'Type this, and --expires if you gave it: ',
    ],
  ] as const)('is refused as well with %s', (_, name, args, env, line) => {
    expect(() => refuseSwallowed(name, args, env)).toThrow(line);
  });

  it.each([
    [
      'npm sets by itself',
      script('import', { npm_config_user_agent: 'npm/11', npm_config_yes: '' }),
    ],
    ['another script has', script('test', { npm_config_dry_run: 'true' })],
    ['is meant for npx', npx({ npm_config_yes: 'true' })],
    [
      'stands in a .npmrc',
      script('import', {
        npm_config_yes: 'true',
        npm_config_userconfig: write('npmrc', 'yes = true\n'),
      }),
    ],
    ['was given to the command too', script('import', { npm_config_json: 'true' })],
  ])('is not one that %s', (_, env) => {
    refuseSwallowed('import', ['--json'], env);
  });

  it('ends the command before it does anything', async () => {
    const variables = script('import', { npm_config_dry_run: 'true' }) as Record<string, string>;
    const outcome = await callOps(petstore, ['import', '--pets', 'none.jsonl'], variables);
    expect(outcome).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^npm took --dry-run for itself.*\n$/),
    });
  });
});

describe('the completion for bash', () => {
  it.each([
    [['petstore', 'im'], 'import'],
    [['npx', 'petstore', 'ro'], 'rollback'],
    [['npx', 'pet'], 'petstore'],
    [['npx', 'vitest', 'im'], ''],
    [['npx', 'petstore', 'keys', 'ro'], 'rotate'],
    [['npx', 'petstore', 'keys', 'rotate', '--gr'], '--grace'],
    [['petstore', 'keys', 'revoke', '0123456789', '--gr'], ''],
    [['petstore', 'help', 'res'], 'restore'],
    [['petstore', 'import', '--sk'], '--skip-invalid'],
    [['petstore', 'logs', '--stage', ''], 'staging production'],
    [['npx', 'petstore', 'keys', 'create', '--permission', 'w'], 'write'],
  ])('of %j is %s', async (words, completed) => {
    const { stdout } = await callOps(petstore, ['completion', 'bash']);
    const typed = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
    const script = `${stdout}\n${typed}; _petstore; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })).toBe(
      `${completed}\n`,
    );
  });
});
