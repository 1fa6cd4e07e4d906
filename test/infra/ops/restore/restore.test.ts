import { describe, expect, it, onTestFinished } from 'vitest';
import { runRestore, toNextSteps } from '../../../../infra/ops/restore/runRestore.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { skipBackOff } from '../../../support/faults/backOff.ts';
import { type Answers, AwsError, useAws } from '../aws.ts';
import { callOps, defineInterrupt, expectRefusal } from '../opsProcess.ts';
import { defineRecoverableTables } from './recoverableTables.ts';

const at = ['--at', '2026-11-20T09:59:00Z'];
const production = ['--stage', 'production'];
const inventory = [...production, '--table', 'inventory'];
const source = 'petstore-production-inventory';
const target = `${source}-20261120T095900Z`;
const requests = 'petstore-production-requests';
const seconds = (time: string) => Date.parse(time) / 1_000;

type Recoverable = ReturnType<typeof defineRecoverableTables>;

/** Production's tables, whose AWS answers some calls otherwise, and the command on them. */
async function open(change: (recoverable: Recoverable) => Answers = () => ({})) {
  const recoverable = defineRecoverableTables();
  const aws = await useAws({ ...recoverable.answers, ...change(recoverable) });
  const restore = (...args: string[]) =>
    callOps((words) => runRestore(words, 5), args, aws.variables);
  /** The calls that change something, in order. */
  const changes = () =>
    aws.calls
      .filter(({ operation }) => /^(Restore|Update|Tag)/.test(operation))
      .map(({ operation, input }) => ({ operation, input }));
  return { ...recoverable, aws, restore, changes };
}

const oneLine = (text: string) => expect.stringMatching(new RegExp(`^[^\n]*${text}[^\n]*\n$`));

describe('npm run restore', () => {
  it('restores a table beside the one in use, gives it what that has, and says how to use it', async () => {
    const { restore, changes, tables } = await open();
    const { status, stdout, stderr } = await restore(...inventory, ...at);
    expect(status).toBe(0);
    const TableName = target;
    const Tags = [
      { Key: 'stage', Value: 'production' },
      { Key: 'service', Value: 'petstore' },
    ];
    const maximum = { MaxReadRequestUnits: 6_000, MaxWriteRequestUnits: 2_000 };
    const expected: readonly [operation: string, input: object][] = [
      [
        'RestoreTableToPointInTime',
        {
          SourceTableName: source,
          TargetTableName: target,
          RestoreDateTime: seconds('2026-11-20T09:59:00Z'),
        },
      ],
      [
        'UpdateContinuousBackups',
        { TableName, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
      ],
      ['TagResource', { ResourceArn: `arn:aws:dynamodb:eu-west-1:1:table/${target}`, Tags }],
      ['UpdateTable', { TableName, OnDemandThroughput: maximum }],
      ['UpdateTable', { TableName, DeletionProtectionEnabled: true }],
    ];
    expect(changes()).toEqual(expected.map(([operation, input]) => ({ operation, input })));
    expect(tables.get(target)?.timeToLive).toBeUndefined();
    expect(stderr).toContain(`into ${target}`);
    expect(stdout).toContain(`\n  restoredTables: { inventory: '${target}' },\n`);
    expect(stdout).toContain('--table requests --at 2026-11-20T09:59:00Z');

    const again = await restore(...inventory, ...at);
    expect(again).toMatchObject({ status: 0, stderr: '', stdout });
    expect(changes()).toHaveLength(expected.length);
    Object.assign(tables.get(target) ?? {}, { creating: 3, protected: false });
    await restore(...inventory, ...at);
    expect(changes().slice(expected.length)).toMatchObject([{ operation: 'UpdateTable' }]);
  });

  it('restores several tables to the same second, and the deletion of what has expired', async () => {
    const { restore, tables } = await open();
    const { stdout } = await restore(...inventory, '--table', 'requests', ...at);
    const whole = { recovery: true, protected: true };
    const second = `${requests}-20261120T095900Z`;
    expect(tables.get(second)).toMatchObject({ ...whole, timeToLive: 't' });
    expect(tables.get(target)).toMatchObject(whole);
    expect(stdout).toContain(`restoredTables: { inventory: '${target}', requests: '${second}' },`);
    expect(stdout).not.toContain('npm run restore');
  });

  it('takes the latest second that all tables can be restored to', async () => {
    const { restore, changes, tables } = await open();
    Object.assign(tables.get(requests) ?? {}, { latest: seconds('2026-11-20T11:59:00.5Z') });
    await restore(...inventory, '--table', 'requests', '--at', 'latest');
    const times = changes().flatMap(({ input }) => input.RestoreDateTime ?? []);
    expect(times).toEqual([1, 2].map(() => seconds('2026-11-20T11:59:00Z')));
  });

  it('leaves a table unbounded whose source is', async () => {
    const { restore, changes, tables } = await open();
    delete tables.get(source)?.maximum;
    await restore(...inventory, ...at);
    expect(changes().filter(({ input }) => 'OnDemandThroughput' in input)).toEqual([]);
    expect(tables.get(target)).toMatchObject({ recovery: true, protected: true });
  });

  it('takes the same second in any zone, and another table than the one in use', async () => {
    const { restore, changes, tables } = await open();
    const first = tables.get(source);
    if (first) tables.set('first', first);
    await restore(...inventory, '--at', '2026-11-20T10:59:00+01:00', '--from', 'first');
    const RestoreDateTime = seconds('2026-11-20T09:59:00Z');
    const input = { SourceTableName: 'first', TargetTableName: target, RestoreDateTime };
    expect(changes()[0]).toMatchObject({ input });
  });

  it('waits out throttling, outages, a table not found yet and backups not to be had yet', async () => {
    onTestFinished(skipBackOff());
    // More than the SDK tries itself.
    const failures = [
      ...Array.from({ length: 4 }, () => new AwsError('ThrottlingException', 'Rate exceeded')),
      ...Array.from({ length: 4 }, () => new AwsError('InternalServerError', 'failed', 500)),
      new AwsError('ResourceNotFoundException', 'not yet'),
    ];
    let updates = 0;
    const { restore, tables } = await open(({ answers, tables }) => ({
      DescribeTable(input) {
        const isTarget = input.TableName === target && tables.has(target);
        const failure = isTarget ? failures.pop() : undefined;
        if (failure) throw failure;
        return answers.DescribeTable?.(input);
      },
      UpdateContinuousBackups(input) {
        updates += 1;
        if (updates < 3) throw new AwsError('ContinuousBackupsUnavailableException', 'later');
        return answers.UpdateContinuousBackups?.(input);
      },
    }));
    expect(await restore(...inventory, ...at)).toMatchObject({ status: 0 });
    expect(tables.get(target)).toMatchObject({ recovery: true, protected: true });
    expect(failures).toEqual([]);
  });

  it('tells of keys that a restored table brings back', async () => {
    const { restore } = await open();
    const { stdout } = await restore(...production, '--table', 'apiKeys', ...at);
    expect(stdout).toContain('revoke them again');
  });

  it.each<[string, (recoverable: Recoverable) => Answers, number, RegExp]>([
    [
      'it is interrupted',
      ({ answers }) => {
        const interrupt = defineInterrupt();
        return {
          DescribeTable(input) {
            const answer = answers.DescribeTable?.(input);
            if (input.TableName === target) interrupt();
            return answer;
          },
        };
      },
      130,
      /^Restoring .*\nInterrupted; .*\n$/,
    ],
    [
      'its credentials end',
      () => ({
        UpdateContinuousBackups() {
          throw new AwsError('ExpiredTokenException', 'The security token is expired');
        },
      }),
      1,
      /^Restoring .*\nStopped; .*\n[^\n]+\(ExpiredTokenException\)[^\n]+\n$/,
    ],
    [
      'the new table is deleted meanwhile',
      ({ answers, tables }) => ({
        DescribeTable(input) {
          const answer = answers.DescribeTable?.(input);
          if (input.TableName === target) tables.delete(target);
          return answer;
        },
      }),
      1,
      new RegExp(`\n${target} is being deleted, or was\\.\n$`),
    ],
  ])('says how to go on where %s', async (_, change, status, told) => {
    const { restore } = await open(change);
    const outcome = await restore(...inventory, ...at, '--from', source);
    const again = `  npm run restore -- ${inventory.join(' ')} ${at.join(' ')} --from ${source}\n`;
    expect(outcome).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(again) });
    expect(outcome.stderr.replace(again, '')).toMatch(told);
  });
});

describe('npm run restore restores nothing', () => {
  const tables = '--table must be one or more of inventory, pets, orders, requests, apiKeys';
  it.each<[string, string]>([
    ['', '--stage must be'],
    ['--stage production --at latest', `${tables}; it is missing`],
    ['--stage production --table stock --at latest', `${tables}; it is "stock"`],
    ['--stage production --table pets', '--at must be a second with its zone, such as 2026-12-24T'],
    ...['', 'T09:59', 'T09:59:00', 'T09:59:00.5Z', 'T09:59:00+99:00'].map(
      (time): [string, string] => [
        `--stage production --table pets --at 2026-11-20${time}`,
        `--at must be a second with its zone, such as 2026-12-24T09:59:00Z or 2026-12-24T10:59:00+01:00, or latest; it is "2026-11-20${time}"`,
      ],
    ),
    ['--stage production --table pets --at 2026-02-30T09:59:00Z', '--at must be'],
    ['--stage production --table pets --at 2999-01-01T00:00:00Z', '--at lies ahead: 2999-01-01T'],
    [
      '--stage production --table pets --table orders --at latest --from first',
      '--from goes with one --table only',
    ],
  ])('where "%s" makes no sense', (typed, message) =>
    expectRefusal(runRestore, typed.split(' ').filter(Boolean), message),
  );

  const restored = (source: string, time: number) => ({
    creating: 0,
    recovery: false,
    protected: false,
    tags: [],
    latest: 0,
    restored: { source, time },
  });
  const time = seconds('2026-11-20T09:59:00Z');
  type Prepare = (recoverable: Recoverable) => unknown;
  const find = (from: string, at: number): Prepare => {
    return ({ tables }) => tables.set(target, restored(from, at));
  };
  const makeUnrecoverable: Prepare = ({ tables }) =>
    Object.assign(tables.get(requests) ?? {}, { recovery: false });
  it.each<[string, Prepare, string[], string]>([
    [
      'as of a time that is not to be had yet',
      () => {},
      ['--table', 'pets', '--at', '2026-11-20T12:03:30Z'],
      'to is 2026-11-20T12:00:00Z now. Run this again in 3:30 minutes',
    ],
    [
      'as of a time that is not to be had any more',
      () => {},
      ['--at', '2026-10-31T23:59:59Z'],
      'to is 2026-11-01T00:00:00Z. An earlier table of inventory',
    ],
    [
      'unless all tables can be restored',
      makeUnrecoverable,
      ['--table', 'requests', ...at],
      'no point-in-time recovery',
    ],
    ['of a table that is gone', ({ tables }) => tables.delete(source), at, '"A deleted table"'],
    ['over a table that comes from another', find('other', time), at, 'was not restored from'],
    ['over a table as of another time', find(source, 1), at, 'was not restored from'],
    [
      'over a table that was not restored',
      ({ tables }) => tables.set(target, { ...restored('', 1), restored: undefined as never }),
      at,
      'was not restored from',
    ],
  ])('%s', async (_, prepare, args, message) => {
    const { restore, changes, ...recoverable } = await open();
    prepare(recoverable);
    const { status, stderr } = await restore(...inventory, ...args);
    expect({ status, stderr }).toEqual({ status: 1, stderr: oneLine(message) });
    expect(changes()).toEqual([]);
  });
});

it('the line for the settings keeps the tables that were restored before', () => {
  const { name, settings } = stages.production;
  const restoredTables = { pets: 'pets-2', inventory: 'inventory-2' };
  const time = new Date('2026-11-20T09:59:00Z');
  const restore = {
    name: 'inventory',
    source: 'inventory-2',
    target: 'inventory-3',
    time,
  } as const;
  const stage = { name, settings: { ...settings, restoredTables } };
  const line = "restoredTables: { pets: 'pets-2', inventory: 'inventory-3' },";
  expect(toNextSteps(stage, [restore], time)).toContain(line);
});
