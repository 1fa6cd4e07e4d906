import { describe, expect, it } from 'vitest';
import { runKeys } from '../../../infra/ops/keys/runKeys.ts';
import { runLogs } from '../../../infra/ops/logs/runLogs.ts';
import { commands } from './commands.ts';
import { callOps } from './opsProcess.ts';

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

// That each is a process which ends so as well, `outputs.test.ts` shows, and the tests of each.
describe.each(commands)('npm run $name', ({ name, run }) => {
  it('explains itself by -h as by --help', async () => {
    const long = await callOps(run, ['--help']);
    expect(long).toMatchObject({ status: 0, stderr: '' });
    expect(long.stdout).toMatch(new RegExp(`npm (run )?${name}( |$)`, 'm'));
    expect(await callOps(run, ['-h'])).toEqual(long);
  });

  it('does not know an option that it does not have', async () => {
    expect(await callOps(run, ['--bogus'])).toEqual({
      status: 2,
      stdout: '',
      stderr: "Unknown option '--bogus'. See --help.\n",
    });
  });
});

it.each([
  ['keys', runKeys, ['list', '--bogus'], '--bogus'],
  ['logs', runLogs, ['-x'], '-x'],
] as const)('npm run %s: nor in any other place or form', async (_, run, args, option) => {
  expect(await callOps(run, args)).toEqual({
    status: 2,
    stdout: '',
    stderr: `Unknown option '${option}'. See --help.\n`,
  });
});
