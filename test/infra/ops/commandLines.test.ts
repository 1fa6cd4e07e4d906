import { describe, expect, it } from 'vitest';
import { commands } from './commands.ts';
import { runOps } from './opsProcess.ts';

it('there are commands', () => {
  expect(commands.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'start',
      'keys',
      'import',
      'export',
      'rollback',
      'restore',
      'smoke',
      'costs',
    ]),
  );
});

describe.each(commands)('npm run $name', ({ name, script }) => {
  it('explains itself by -h as by --help', async () => {
    const [short, long] = await Promise.all([runOps(script, ['-h']), runOps(script, ['--help'])]);
    expect(long).toMatchObject({ status: 0, stderr: '' });
    expect(long.stdout).toMatch(new RegExp(`npm (run )?${name}( |$)`, 'm'));
    expect(short).toEqual(long);
  });

  it('does not know an option that it does not have', async () => {
    expect(await runOps(script, ['--bogus'])).toEqual({
      status: 2,
      stdout: '',
      stderr: "Unknown option '--bogus'. See --help.\n",
    });
  });
});

it.each([
  ['infra/ops/keys/keys.ts', ['list', '--bogus'], '--bogus'],
  ['infra/ops/logs/logs.ts', ['-x'], '-x'],
])('%s %j: nor in any other place or form', async (script, args, option) => {
  expect(await runOps(script, args)).toEqual({
    status: 2,
    stdout: '',
    stderr: `Unknown option '${option}'. See --help.\n`,
  });
});
