import { describe, expect, it, onTestFinished } from 'vitest';
import { toTableOutput } from '../../../../infra/stages/resourceNames.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { tableNames } from '../../../../infra/stages/tables.ts';
import { hurryPauses, skipBackOff } from '../../../support/faults/clock.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, changeSettings, defineCommand, defineInterrupt } from '../opsProcess.ts';

const runRestore = defineCommand('restore');

const at = ['--at', '2026-11-20T09:59:00Z'];
const production = ['--stage', 'production'];
const inventory = [...production, '--table', 'inventory'];
const prefix = 'petstore-production-';
const source = `${prefix}inventory`;
const target = `${source}-20261120T095900Z`;
const apiKeys = `${prefix}apiKeys`;
const seconds = (time: string) => Date.parse(time) / 1_000;
const toArn = (name: unknown) => `arn:aws:dynamodb:eu-west-1:1:table/${name}`;

/** The tables of production, by name: what their descriptions have. */
type Tables = Map<unknown, Record<string, unknown>>;

/** Production's tables, an AWS with some other responses, and the command on them. */
async function open(change: (responses: Responses, tables: Tables) => Responses = () => ({})) {
  const tables: Tables = new Map(
    tableNames.map((name) => [prefix + name, { latest: 1_795_176_000.5 }]),
  );
  function find(name: unknown) {
    const table = tables.get(name);
    if (table) return table;
    throw new AwsError('ResourceNotFoundException', `Table: ${name} not found`);
  }
  const outputs = tableNames.map((name) => [toTableOutput(name), prefix + name]);
  const responses: Responses = {
    ...describeStack('petstore-production', Object.fromEntries(outputs)),
    DescribeTable: ({ TableName }) => {
      return { Table: { TableArn: toArn(TableName), TableStatus: 'ACTIVE', ...find(TableName) } };
    },
    DescribeContinuousBackups({ TableName }) {
      const { latest: LatestRestorableDateTime } = find(TableName);
      const PointInTimeRecoveryDescription = { LatestRestorableDateTime };
      return { ContinuousBackupsDescription: { PointInTimeRecoveryDescription } };
    },
    RestoreTableToPointInTime({ SourceTableName, TargetTableName }) {
      find(SourceTableName);
      const RestoreSummary = { SourceTableArn: toArn(SourceTableName) };
      tables.set(TargetTableName, { TableName: TargetTableName, RestoreSummary });
      return {};
    },
    UpdateContinuousBackups: () => ({}),
    TagResource: () => ({}),
    UpdateTable: ({ TableName, ...more }) => Object.assign(find(TableName), more) && {},
  };
  const aws = await useAws({ ...responses, ...change(responses, tables) });
  const restore = (...args: string[]) => callOps(runRestore, args, aws.variables);
  /** The calls that change something, in order. */
  const changes = () =>
    aws.calls
      .filter(({ operation }) => /^(Restore|Update|Tag)/.test(operation))
      .map(({ operation, input }) => [operation, input]);
  return { tables, aws, restore, changes };
}

describe('npx petstore restore', () => {
  it('restores a new table with the settings of the stage, to a second in any zone', async () => {
    const { restore, changes } = await open();
    const { status, stdout, stderr } = await restore(...inventory, ...at);
    expect({ status, stderr: stderr.split(';')[0] }).toEqual({
      status: 0,
      stderr: `Restoring ${source} as of 2026-11-20T09:59:00Z into ${target}`,
    });
    const { inventory: maximum } = stages.production.settings.maximumUnitsPerSecond;
    const Tags = [
      { Key: 'service', Value: 'petstore' },
      { Key: 'stage', Value: 'production' },
      { Key: 'owner', Value: stages.production.settings.owner },
    ];
    const TableName = target;
    const names = { SourceTableName: source, TargetTableName: target };
    const OnDemandThroughputOverride = {
      MaxReadRequestUnits: maximum.read,
      MaxWriteRequestUnits: maximum.write,
    };
    const RestoreDateTime = seconds('2026-11-20T09:59:00Z');
    const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
    const expected = [
      ['RestoreTableToPointInTime', { ...names, RestoreDateTime, OnDemandThroughputOverride }],
      ['UpdateContinuousBackups', { TableName, PointInTimeRecoverySpecification }],
      ['TagResource', { ResourceArn: toArn(target), Tags }],
      ['UpdateTable', { TableName, DeletionProtectionEnabled: true }],
    ];
    expect(changes()).toEqual(expected);
    expect(stdout).not.toContain('revoke them again');

    const again = await restore(...inventory, '--at', '2026-11-20T10:59:00+01:00');
    expect(again).toEqual({ status: 0, stderr: '', stdout });
    expect(changes().slice(expected.length)).toEqual(expected.slice(1, 3));
  });

  it('restores several tables to the latest second of all, and says how to use them', async () => {
    const restoredTables = { pets: 'pets-2', inventory: 'inventory-2' };
    changeSettings(stages.production, { restoredTables });
    const { restore, tables } = await open();
    Object.assign(tables.get(apiKeys) ?? {}, { latest: seconds('2026-11-20T09:59:00.5Z') });
    const { stdout } = await restore(...inventory, '--table', 'apiKeys', '--at', 'latest');
    expect(stdout).toMatchInlineSnapshot(`
      "
      Restored as of 2026-11-20T09:59:00Z, with backups and protection. Look at what is in it:
        aws dynamodb scan --max-items 5 --table-name petstore-production-inventory-20261120T095900Z
        aws dynamodb scan --max-items 5 --table-name petstore-production-apiKeys-20261120T095900Z
      To put it to use, set in infra/stages/stages.ts, under production:
        restoredTables: { pets: 'pets-2', inventory: 'petstore-production-inventory-20261120T095900Z', apiKeys: 'petstore-production-apiKeys-20261120T095900Z' },
      and go on at "Put a restored table to use" in infra/OPERATIONS.md.
      Keys that were revoked since are valid in it: revoke them again before it is put to use.
      "
    `);
  });

  it('says in JSON what was restored, here from a table that is not in use', async () => {
    const { restore, tables } = await open();
    tables.set('first', { latest: seconds('2026-11-20T11:59:00Z') });
    const { stdout, stderr } = await restore(...inventory, ...at, '--from', 'first', '--json');
    expect(JSON.parse(stdout)).toEqual({
      stage: 'production',
      time: '2026-11-20T09:59:00Z',
      tables: [{ name: 'inventory', source: 'first', target }],
    });
    expect(stderr).toContain(`\n  restoredTables: { inventory: '${target}' },\n`);
  });

  it('waits for the table, through throttling, outages and unavailable backups', async () => {
    hurryPauses();
    onTestFinished(skipBackOff());
    // More than the SDK tries itself.
    const failures = [
      ...Array.from({ length: 7 }, () => new AwsError('ThrottlingException', 'Rate exceeded')),
      ...Array.from({ length: 7 }, () => new AwsError('InternalServerError', 'failed', 500)),
      new AwsError('ResourceNotFoundException', 'not yet'),
    ];
    const later = ['ContinuousBackupsUnavailableException', 'ResourceInUseException'];
    let creating = 2;
    const { restore, tables, changes } = await open((responses, tables) => ({
      DescribeTable(input) {
        const isTarget = input.TableName === target && tables.has(target);
        const failure = isTarget ? failures.pop() : undefined;
        if (failure) throw failure;
        if (!isTarget || creating === 0) return responses.DescribeTable?.(input);
        creating -= 1;
        return { Table: { TableStatus: 'CREATING' } };
      },
      UpdateContinuousBackups() {
        if (creating > 0) throw new AwsError('ValidationException', 'It is being created.');
        const name = later.pop();
        if (name) throw new AwsError(name, 'later');
        return {};
      },
    }));
    const { status, stderr } = await restore(...inventory, ...at);
    expect(status).toBe(0);
    // Once for as long as it is the same.
    expect(stderr).toMatch(
      /^Restoring .*\nTrying again: DynamoDB: Int\w+: failed\nTrying again: DynamoDB: Thr\w+: Rate .*\n$/,
    );
    expect(tables.get(target)).toMatchObject({ DeletionProtectionEnabled: true });
    expect([...failures, ...later]).toEqual([]);
    expect(changes().filter(([operation]) => operation === 'TagResource')).toHaveLength(1);
  });

  const interrupt = defineInterrupt();
  const when = at.join(' ');
  const interrupted = /^Restoring .*\nInterrupted; .*\n$/;
  const expired = /^(Restoring .*\n){2}Stopped; .*\nDynamoDB: ExpiredTokenException: [^\n]+\n$/;
  it.each<[string, string, number, RegExp]>([
    [`--table pets ${when} --from ${source}`, 'ResourceInUse', 130, interrupted],
    [`--table inventory --table pets ${when}`, 'ExpiredToken', 1, expired],
  ])('says how to go on with %s after %s', async (typed, name, status, told) => {
    const { restore } = await open(() => ({
      UpdateContinuousBackups() {
        if (status === 130) interrupt();
        throw new AwsError(`${name}Exception`, 'The security token is expired');
      },
    }));
    const outcome = await restore(...production, ...typed.split(' '));
    const again = `  npx petstore restore --stage production ${typed}\n`;
    expect(outcome).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(again) });
    expect(outcome.stderr.replace(again, '')).toMatch(told);
  });
});

describe('npx petstore restore restores nothing', () => {
  const off =
    'Nothing is restored: point-in-time recovery is off for petstore-production-inventory,';
  const offToo = off.replace('inventory', 'apiKeys');
  const lackKeys = (all: Tables) => all.set(apiKeys, {});
  const restoreOther = (all: Tables) =>
    all.set(target, { RestoreSummary: { SourceTableArn: toArn(`${source}-2`) } });
  it.each<[string, (tables: Tables) => unknown, string, string]>([
    ['of an unrecoverable table', (all) => all.set(source, {}), 'latest', off],
    ['of an unrecoverable table to a time', (all) => all.set(source, {}), `${at[1]}`, off],
    ['of one beside an unrecoverable table', lackKeys, `${at[1]} --table apiKeys`, offToo],
    ['of a table that is gone', (all) => all.delete(source), `${at[1]}`, `Table: ${source}`],
    ['over a table from another', restoreOther, `${at[1]}`, 'not restored from'],
  ])('%s', async (_, prepare, time, message) => {
    const { restore, aws, tables } = await open();
    prepare(tables);
    const { status, stderr } = await restore(...inventory, '--at', ...time.split(' '));
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) });
    expect(aws.inputsOf('UpdateContinuousBackups')).toEqual([]);
    expect(aws.inputsOf('RestoreTableToPointInTime')).toHaveLength(0);
  });
});
