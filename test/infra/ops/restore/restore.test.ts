import { expect, it, onTestFinished } from 'vitest';
import { petstore } from '../../../../infra/petstore.ts';
import { toTableOutput } from '../../../../infra/stages/resourceNames.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { tableNames } from '../../../../infra/stages/tables.ts';
import { hurryPauses, skipBackOff } from '../../../support/faults/clock.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, changeSettings, defineInterrupt, tellStories, toScreen } from '../opsProcess.ts';

const at = '--at 2026-11-20T09:59:00Z';
const prefix = 'petstore-production-';
const source = `${prefix}inventory`;
const target = `${source}-20261120T095900Z`;
const apiKeys = `${prefix}apiKeys`;
const seconds = (time: string) => Date.parse(time) / 1_000;
const toArn = (name: unknown) => `arn:aws:dynamodb:eu-west-1:1:table/${name}`;

/** The tables of production, by name: what their descriptions have. */
type Tables = Map<unknown, Record<string, unknown>>;

/** A command as typed, or what happens before it. */
type Step = string | ((production: Awaited<ReturnType<typeof open>>) => unknown);

/** Production's tables as AWS has them, and what is seen of the command, and called to change them. */
async function open() {
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
    DescribeTimeToLive({ TableName }) {
      const TimeToLiveStatus = find(TableName).expires ? 'ENABLED' : 'DISABLED';
      return { TimeToLiveDescription: { TimeToLiveStatus } };
    },
    UpdateTimeToLive({ TableName }) {
      const table = find(TableName);
      if (table.expires) throw new AwsError('ValidationException', 'TimeToLive is already enabled');
      return Object.assign(table, { expires: true }) && {};
    },
    TagResource: () => ({}),
    UpdateTable: ({ TableName, ...more }) => Object.assign(find(TableName), more) && {},
  };
  const aws = await useAws(responses);
  async function restore(typed: string) {
    aws.calls.length = 0;
    const args = `restore --stage production ${typed}`.split(' ');
    const outcome = await callOps(petstore, args, aws.variables);
    const changes = aws.calls
      .filter(({ operation }) => /^(Restore|Update|Tag)/.test(operation))
      .map(({ operation, input }) => `Called: ${operation} ${JSON.stringify(input)}\n`);
    return `${toScreen(args, outcome)}${changes.join('')}`;
  }
  return { tables, responses, restore };
}

const interrupt = defineInterrupt();
const failBackups =
  (name: string, act = () => {}): Step =>
  ({ responses }) => {
    responses.UpdateContinuousBackups = () => {
      act();
      throw new AwsError(`${name}Exception`, 'The security token is expired');
    };
  };
const describe =
  (name: string, description: object): Step =>
  ({ tables }) =>
    tables.set(name, { ...description });
const ofOther = { RestoreSummary: { SourceTableArn: toArn(`${source}-2`) } };
const inventory = `--table inventory ${at}`;

/** DynamoDB fails for longer than the SDK tries itself, and the table is there later, its backups last. */
const failForLong: Step = ({ tables, responses }) => {
  const failures = [
    ...Array.from({ length: 7 }, () => new AwsError('ThrottlingException', 'Rate exceeded')),
    ...Array.from({ length: 7 }, () => new AwsError('InternalServerError', 'failed', 500)),
    new AwsError('ResourceNotFoundException', 'not yet'),
  ];
  const later = ['ContinuousBackupsUnavailableException', 'ResourceInUseException'];
  let creating = 2;
  const { DescribeTable } = responses;
  responses.DescribeTable = (input) => {
    const isTarget = input.TableName === target && tables.has(target);
    const failure = isTarget ? failures.pop() : undefined;
    if (failure) throw failure;
    if (!isTarget || creating === 0) return DescribeTable?.(input);
    creating -= 1;
    return { Table: { TableStatus: 'CREATING' } };
  };
  responses.UpdateContinuousBackups = () => {
    if (creating > 0) throw new AwsError('ValidationException', 'It is being created.');
    const name = later.pop();
    if (name) throw new AwsError(name, 'later');
    return {};
  };
};

/** Commands after each other on production's tables; `restores.txt` has what is seen, and what they change. */
const restores: Readonly<Record<string, readonly Step[]>> = {
  'a table, and the same second in another zone': [
    inventory,
    '--table inventory --at 2026-11-20T10:59:00+01:00',
  ],
  'two to the latest second of all': [
    describe(apiKeys, { latest: seconds('2026-11-20T09:59:00.5Z') }),
    '--table inventory --table apiKeys --at latest',
  ],
  'of the outcomes, which expire, twice': [`--table requests ${at}`, `--table requests ${at}`],
  'in JSON': [`${inventory} --json`],
  interrupted: [failBackups('ResourceInUse', interrupt), `--table pets ${at}`],
  'stopped by expired credentials': [failBackups('ExpiredToken'), `--table pets ${inventory}`],
  'of an unrecoverable table': [describe(source, {}), '--table inventory --at latest', inventory],
  'of one beside an unrecoverable table': [describe(apiKeys, {}), `${inventory} --table apiKeys`],
  'through throttling, outages and unavailable backups': [failForLong, inventory],
  'of a table that is gone': [({ tables }) => tables.delete(source), inventory],
  'over a table from another': [describe(target, ofOther), inventory],
};

it('npx petstore restore restores new tables with the settings of the stage, or none', async () => {
  hurryPauses();
  onTestFinished(skipBackOff());
  const restoredTables = { pets: 'pets-2', inventory: 'inventory-2' };
  changeSettings(stages.production, { restoredTables });
  const screen = await tellStories(restores, async (steps) => {
    const production = await open();
    let seen = '';
    for (const step of steps) {
      if (typeof step === 'string') seen += await production.restore(step);
      else step(production);
    }
    return seen;
  });
  await expect(screen).toMatchFileSnapshot('restores.txt');
});
