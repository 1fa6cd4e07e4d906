import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { byKeyFlags, byKeyHelp } from '../../../../infra/costs/byKey/byKeyOptions.ts';
import { runCosts } from '../../../../infra/costs/runCosts.ts';
import { AwsError } from '../../ops/aws.ts';
import { callOps, runOps } from '../../ops/opsProcess.ts';
import { toAccess } from './insights.ts';
import { byKey, december, november, openAws, toTodaysArgs } from './openAws.ts';

const stops: (() => void)[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: december }));
afterEach(() => {
  vi.useRealTimers();
  for (const stop of stops.splice(0)) stop();
});

async function open(...recorded: Parameters<typeof openAws>) {
  const opened = await openAws(...recorded);
  stops.push(opened.aws.close);
  return opened;
}

describe('the cost of asking', () => {
  it('is told first', async () => {
    const { run } = await open();
    const gigabytes = (3_609_009_000 + 900_000 + 1_607_204_000) / 2 ** 30;
    expect((await run()).stderr).toBe(
      `The queries read ${gigabytes.toFixed(2)} GB of logs, which costs $0.02.\n`,
    );
  });

  it('is asked for above a dollar, unless it is agreed to', async () => {
    const { aws, run } = await open({ volume: 50 });
    const { status, stderr } = await run();
    expect(status).toBe(2);
    expect(stderr).toMatch(/costs \$1\.21\.\n.*add --yes/);
    expect(aws.inputsOf('StartQuery')).toEqual([]);
    expect(await run('--yes')).toMatchObject({ status: 0 });
    expect(aws.inputsOf('StartQuery')).toHaveLength(2);
  });

  it.each([
    ['y\n', 2],
    ['n\n', 0],
  ])('may be answered by %j', async (typed, queries) => {
    vi.useRealTimers();
    const { aws, variables } = await open({ volume: 50 });
    const { status, stderr } = await callOps(runCosts, toTodaysArgs(), variables, typed);
    expect(stderr.includes('Nothing was asked.')).toBe(queries === 0);
    expect(status).toBe(0);
    expect(aws.inputsOf('StartQuery')).toHaveLength(queries);
  });
});

describe('the limits of the logs', () => {
  it('leave out days that are gone, in one line', async () => {
    const { aws, run } = await open();
    const { stderr } = await run('--from', '2026-08-01', '--to', '2026-09-10');
    expect(stderr).toContain(
      'The logs of production are kept for 90 days: what was before 2026-09-07 is gone.\n',
    );
    expect(aws.inputsOf('StartQuery')[0]?.startTime).toBe(Date.UTC(2026, 8, 7) / 1000);
  });

  it('are told when a query has more rows than it answers with', async () => {
    const access = Array.from({ length: 10_000 }, (_, index) =>
      toAccess('GET', `/${index}`, '404', '-', { lines: '1', sent: '1' }),
    );
    const { run } = await open({ access });
    expect((await run()).stderr).toContain('more than the 10,000 rows');
  });
});

describe('what goes wrong is one line', () => {
  it.each([
    [['--from', '2026-11-31'], '--from must be a day such as 2026-11-30; it is "2026-11-31".'],
    [['--to', 'today'], '--to must be a day such as 2026-11-30; it is "today".'],
    [['--from', '2026-12-01'], '--from 2026-12-01 comes after --to 2026-11-30.'],
    [['--from', '2027-01-01', '--to', '2027-01-02'], '--from 2027-01-01 has not come yet.'],
    [['--from', '2026-01-01', '--to', '2026-01-02'], 'what was before 2026-09-07 is gone.'],
    [['--csv'], "Unknown option '--csv'"],
    [['--stage', 'nowhere'], '--stage must be'],
  ])('%j: %s', async (args, line) => {
    const { status, stdout, stderr } = await callOps(byKey, [...november, ...args]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr).toMatch(/^[^\n]+\n$/);
  });

  it('without a day', async () => {
    const { stderr } = await callOps(byKey, ['--stage', 'production']);
    expect(stderr).toBe('--from must be a day such as 2026-11-30; it is missing.\n');
  });

  it('without credentials', async () => {
    const { stderr } = await callOps(byKey, november, { AWS_REGION: 'us-east-1' });
    expect(stderr).toContain('There are no AWS credentials: run aws configure');
  });

  const refuse = (name: string, message: string) => () => {
    throw new AwsError(name, message);
  };
  it.each([
    [
      'DescribeStacks',
      'ValidationError',
      'Stack petstore-production does not exist',
      'There is no stack',
    ],
    ['GetMetricData', 'AccessDeniedException', 'no', 'AWS refuses this'],
    ['StartQuery', 'ResourceNotFoundException', 'no', 'is not in us-east-1: deploy the stage'],
    ['StartQuery', 'AccessDeniedException', 'no', 'AWS refuses this'],
  ])('%s: %s', async (operation, name, message, line) => {
    const { run } = await open({}, { [operation]: refuse(name, message) });
    const { status, stdout, stderr } = await run();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toContain(line);
  });

  it('a query that fails', async () => {
    const { run } = await open({ status: 'Timeout' });
    const { status, stdout, stderr } = await run();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('The query of the logs came to no end (Timeout)');
  });

  it('at Ctrl-C nothing, and no query goes on', async () => {
    vi.useRealTimers();
    let interrupt = () => {};
    const asked = new Set<unknown>();
    const { aws, variables } = await open(
      {},
      {
        GetQueryResults({ queryId }) {
          if (!asked.has(queryId) && asked.add(queryId).size === 2) interrupt();
          return { status: 'Running', results: [] };
        },
      },
    );
    const { status, stdout, stderr } = await runOps('infra/costs/costs.ts', toTodaysArgs(), {
      variables,
      onStart: (child) => {
        interrupt = () => child.kill('SIGINT');
      },
    });
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
    expect(stderr).toMatch(/^The queries read [^\n]+\n$/);
    expect(
      aws
        .inputsOf('StopQuery')
        .map(({ queryId }) => queryId)
        .sort(),
    ).toEqual(['0', '1']);
  });
});

it('names other regions’ prices for what they are', async () => {
  const { aws } = await open();
  const { stderr } = await callOps(byKey, november, aws.variables);
  expect(stderr).toContain(
    'The prices of eu-west-1 are not known: these are those of us-east-1.\n',
  );
});

it('explains each of its options', () => {
  for (const name of Object.keys(byKeyFlags)) expect(byKeyHelp).toContain(`--${name}`);
});
