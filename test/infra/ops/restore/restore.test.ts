import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { runRestore, toNextSteps } from '../../../../infra/ops/restore/runRestore.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { skipBackOff } from '../../../support/faults/backOff.ts';
import { type Answers, AwsError, startAws } from '../aws.ts';
import { callOps, runOps } from '../opsProcess.ts';
import { defineRecoverableTables } from './recoverableTables.ts';

const at = ['--at', '2026-11-20T09:59:00Z'];
const inventory = ['--stage', 'production', '--table', 'inventory'];
const target = 'petstore-production-inventory-20261120T095900Z';
const changing = /^(Restore|Update|Tag)/;
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

type Recoverable = ReturnType<typeof defineRecoverableTables>;

/** Production's tables, whose AWS answers some calls otherwise, and the command on them. */
async function open(change: (recoverable: Recoverable) => Answers = () => ({})) {
  const recoverable = defineRecoverableTables();
  const aws = await startAws({ ...recoverable.answers, ...change(recoverable) });
  stops.push(aws.close);
  const restore = (...args: string[]) =>
    callOps((words) => runRestore(words, 5), args, aws.variables);
  /** The calls that change something, in order. */
  const changes = () => aws.calls.filter(({ operation }) => changing.test(operation));
  return { ...recoverable, aws, restore, changes };
}

const saying = (text: string) => expect.stringMatching(new RegExp(`^[^\n]*${text}[^\n]*\n$`));

describe('npm run restore', () => {
  it('restores a table beside the one in use, gives it what that has, and says how to use it', async () => {
    const { restore, changes, tables } = await open();
    const { status, stdout, stderr } = await restore(...inventory, ...at);
    expect(status).toBe(0);
    expect(changes().map(({ operation, input }) => [operation, input])).toEqual([
      [
        'RestoreTableToPointInTime',
        {
          SourceTableName: 'petstore-production-inventory',
          TargetTableName: target,
          RestoreDateTime: Date.parse('2026-11-20T09:59:00Z') / 1_000,
        },
      ],
      [
        'UpdateContinuousBackups',
        {
          TableName: target,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      ],
      [
        'TagResource',
        {
          ResourceArn: `arn:aws:dynamodb:eu-west-1:1:table/${target}`,
          Tags: [
            { Key: 'stage', Value: 'production' },
            { Key: 'service', Value: 'petstore' },
          ],
        },
      ],
      [
        'UpdateTable',
        {
          TableName: target,
          OnDemandThroughput: { MaxReadRequestUnits: 6_000, MaxWriteRequestUnits: 2_000 },
        },
      ],
      ['UpdateTable', { TableName: target, DeletionProtectionEnabled: true }],
    ]);
    expect(tables.get(target)?.timeToLive).toBeUndefined();
    expect(stderr).toContain(`into ${target}`);
    expect(stdout).toContain(`\n  restoredTables: { inventory: '${target}' },\n`);
    expect(stdout).toContain('--table requests --at 2026-11-20T09:59:00Z');
  });

  it('restores several tables to the same second, and the deletion of what has expired', async () => {
    const { restore, tables } = await open();
    const { stdout } = await restore(...inventory, '--table', 'requests', ...at);
    const requests = 'petstore-production-requests-20261120T095900Z';
    expect(tables.get(requests)).toMatchObject({
      recovery: true,
      protected: true,
      timeToLive: 't',
    });
    expect(tables.get(target)).toMatchObject({ recovery: true, protected: true });
    expect(stdout).toContain(
      `restoredTables: { inventory: '${target}', requests: '${requests}' },`,
    );
    expect(stdout).not.toContain('npm run restore');
  });

  it('goes on where an earlier run was, and does nothing twice', async () => {
    const { restore, changes, tables } = await open();
    await restore(...inventory, ...at);
    const done = changes().length;
    expect(await restore(...inventory, ...at)).toMatchObject({ status: 0, stderr: '' });
    expect(changes()).toHaveLength(done);
    Object.assign(tables.get(target) ?? {}, { creating: 3, protected: false });
    await restore(...inventory, ...at);
    expect(changes().slice(done)).toMatchObject([{ operation: 'UpdateTable' }]);
  });

  it('leaves a table unbounded whose source is', async () => {
    const { restore, changes, tables } = await open();
    delete tables.get('petstore-production-inventory')?.maximum;
    await restore(...inventory, ...at);
    expect(changes()).not.toContainEqual(
      expect.objectContaining({
        input: expect.objectContaining({ OnDemandThroughput: expect.anything() }),
      }),
    );
    expect(tables.get(target)).toMatchObject({ recovery: true, protected: true });
  });

  it('takes the latest second that all tables can be restored to', async () => {
    const { restore, changes } = await open(({ answers }) => ({
      DescribeContinuousBackups(input) {
        const answer = answers.DescribeContinuousBackups?.(input) as {
          ContinuousBackupsDescription: {
            PointInTimeRecoveryDescription: { LatestRestorableDateTime: number };
          };
        };
        const { PointInTimeRecoveryDescription: recovery } = answer.ContinuousBackupsDescription;
        if (String(input.TableName).endsWith('requests')) recovery.LatestRestorableDateTime -= 60;
        return answer;
      },
    }));
    await restore(...inventory, '--table', 'requests', '--at', 'latest');
    const times = changes().flatMap(({ input }) => input.RestoreDateTime ?? []);
    expect(times).toEqual([1, 2].map(() => Date.parse('2026-11-20T11:59:00Z') / 1_000));
  });

  it('takes the same second in any zone', async () => {
    const { restore, tables } = await open();
    await restore(...inventory, '--at', '2026-11-20T10:59:00+01:00');
    const time = Date.parse('2026-11-20T09:59:00Z') / 1_000;
    expect(tables.get(target)?.restored).toMatchObject({ time });
  });

  it('restores from another table than the one in use', async () => {
    const { restore, changes, tables } = await open();
    const first = tables.get('petstore-production-inventory');
    if (first) tables.set('first', first);
    await restore(...inventory, ...at, '--from', 'first');
    expect(changes()[0]?.input).toMatchObject({
      SourceTableName: 'first',
      TargetTableName: target,
    });
  });

  it('waits out throttling, outages, a table not found yet and backups not to be had yet', async () => {
    onTestFinished(skipBackOff());
    // More than the SDK tries itself.
    const failures = [
      ...Array.from({ length: 4 }, () => new AwsError('ThrottlingException', 'Rate exceeded')),
      ...Array.from({ length: 4 }, () => new AwsError('InternalServerError', 'failed', 500)),
      new AwsError('ResourceNotFoundException', 'not yet'),
    ];
    const { restore, tables } = await open(({ answers }) => {
      let describes = 0;
      let updates = 0;
      return {
        DescribeTable(input) {
          const failure =
            input.TableName === target && describes++ > 0 ? failures.pop() : undefined;
          if (failure) throw failure;
          return answers.DescribeTable?.(input);
        },
        UpdateContinuousBackups(input) {
          updates += 1;
          if (updates < 3)
            throw new AwsError('ContinuousBackupsUnavailableException', 'retry later');
          return answers.UpdateContinuousBackups?.(input);
        },
      };
    });
    expect(await restore(...inventory, ...at)).toMatchObject({ status: 0 });
    expect(tables.get(target)).toMatchObject({ recovery: true, protected: true });
    expect(failures).toEqual([]);
  });

  it('tells of keys that a restored table brings back', async () => {
    const { restore } = await open();
    const { stdout } = await restore('--stage', 'production', '--table', 'apiKeys', ...at);
    expect(stdout).toContain('revoke them again');
  });

  it('says on Ctrl-C how to go on, and leaves the restore as it is', async () => {
    let interrupt = () => {};
    const { aws } = await open(({ answers }) => ({
      async DescribeTable(input) {
        if (answers.DescribeTable && input.TableName === target) {
          const answer = answers.DescribeTable(input);
          interrupt();
          await setTimeout(200);
          return answer;
        }
        return answers.DescribeTable?.(input);
      },
    }));
    const outcome = await runOps('infra/ops/restore/restore.ts', [...inventory, ...at], {
      variables: aws.variables,
      onStart: (child) => {
        interrupt = () => child.kill('SIGINT');
      },
    });
    expect(outcome.status).toBe(130);
    expect(outcome.stderr).toContain(
      'npm run restore -- --stage production --table inventory --at 2026-11-20T09:59:00Z\n',
    );
  });
});

describe('npm run restore restores nothing', () => {
  it.each([
    [[], '--stage must be'],
    [['--stage', 'production', ...at], '--table must be one or more of .+; it is missing'],
    [['--stage', 'production', '--table', 'stock', ...at], 'it is "stock"'],
    [[...inventory], '--at must be .+; it is missing'],
    [[...inventory, '--at', '2026-11-20T09:59:00'], '--at must be'],
    [[...inventory, '--at', '2026-11-20 09:59:00Z'], '--at must be'],
    [[...inventory, '--at', '2026-11-20T09:59:00.5Z'], '--at must be'],
    [[...inventory, '--at', '2026-02-30T09:59:00Z'], '--at must be'],
    [[...inventory, '--at', '2026-11-20T09:59:00+99:00'], '--at must be'],
    [[...inventory, '--at', '2999-01-01T00:00:00Z'], '--at lies ahead'],
    [[...inventory, '--table', 'pets', ...at, '--from', 'first'], '--from goes with one'],
  ])('where %j makes no sense', async (args, message) => {
    const { restore, aws } = await open();
    const { status, stderr } = await restore(...args);
    expect({ status, stderr }).toEqual({ status: 2, stderr: saying(message) });
    expect(aws.calls).toEqual([]);
  });

  it.each([
    ['2026-11-20T12:03:30Z', 'to is 2026-11-20T12:00:00Z now. Run this again in 3:30 minutes'],
    ['2026-10-31T23:59:59Z', 'to is 2026-11-01T00:00:00Z'],
  ])('as of %s, which is not to be had', async (time, message) => {
    const { restore, changes } = await open();
    const { status, stderr } = await restore(...inventory, '--table', 'pets', '--at', time);
    expect({ status, stderr }).toEqual({ status: 1, stderr: saying(message) });
    expect(changes()).toEqual([]);
  });

  it('unless all tables can be restored', async () => {
    const { restore, changes, tables } = await open();
    Object.assign(tables.get('petstore-production-requests') ?? {}, { recovery: false });
    const { status, stderr } = await restore(...inventory, '--table', 'requests', ...at);
    expect({ status, stderr }).toEqual({ status: 1, stderr: saying('no point-in-time recovery') });
    expect(changes()).toEqual([]);
  });

  it('of a table that is gone, and says where to read on', async () => {
    const { restore, tables } = await open();
    tables.delete('petstore-production-inventory');
    const { status, stderr } = await restore(...inventory, ...at);
    expect({ status, stderr }).toEqual({ status: 1, stderr: saying('"A deleted table"') });
  });

  it.each([
    ['another table', { source: 'other', time: Date.parse('2026-11-20T09:59:00Z') / 1_000 }],
    ['another time', { source: 'petstore-production-inventory', time: 1 }],
    ['nothing', undefined],
  ])('over a table that goes by the name and comes from %s', async (_, restored) => {
    const { restore, changes, tables } = await open();
    const table = { creating: 0, recovery: false, protected: false, tags: [] };
    tables.set(target, { ...table, ...(restored && { restored }) });
    const { status, stderr } = await restore(...inventory, ...at);
    expect({ status, stderr }).toEqual({ status: 1, stderr: saying('was not restored from') });
    expect(changes()).toEqual([]);
  });

  it('to its end when its credentials end, and says how to go on', async () => {
    const { restore } = await open(() => ({
      UpdateContinuousBackups() {
        throw new AwsError('ExpiredTokenException', 'The security token is expired');
      },
    }));
    const { status, stdout, stderr } = await restore(...inventory, ...at);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/\n {2}npm run restore -- .+\n[^\n]+\(ExpiredTokenException\)[^\n]+\n$/);
  });

  it('to its end when the new table is deleted meanwhile', async () => {
    const { restore } = await open(({ answers, tables }) => ({
      DescribeTable(input) {
        const answer = answers.DescribeTable?.(input);
        if (input.TableName === target) tables.delete(target);
        return answer;
      },
    }));
    const { status, stderr } = await restore(...inventory, ...at);
    expect(status).toBe(1);
    expect(stderr).toContain(`${target} is being deleted, or was.`);
  });
});

describe('the line for the settings', () => {
  it('keeps the tables that were restored before', () => {
    const { name, settings } = stages.production;
    const restoredTables = { pets: 'pets-2', inventory: 'inventory-2' };
    const time = new Date('2026-11-20T09:59:00Z');
    const restore = {
      name: 'inventory',
      source: 'inventory-2',
      target: 'inventory-3',
      time,
    } as const;
    expect(
      toNextSteps({ name, settings: { ...settings, restoredTables } }, [restore], time),
    ).toContain("restoredTables: { pets: 'pets-2', inventory: 'inventory-3' },");
  });
});
