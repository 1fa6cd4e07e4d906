import { describe, expect, it } from 'vitest';
import { operationSettings } from '../../../infra/stages/stages.ts';
import { type TableName, tableNames } from '../../../infra/stages/tables.ts';
import { toDeprecatedOperations } from '../../../infra/watch/logQueries.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { suites } from '../../conformance/operations/suites.ts';
import {
  type CfnResource,
  changedProduction,
  findResources,
  watchTemplates,
} from '../../support/stackTemplates.ts';

const changed = changedProduction();

type ExpectedAlarm = [name: string, metrics: string[], namespace: string | undefined];

/** What the scheduled check finds, on a stage that has one. */
const checkAlarms = [
  'check-failed',
  'certificate-ends-in-30-days',
  'certificate-ends-in-7-days',
  'key-ends-in-30-days',
  'key-ends-in-7-days',
  ...(toDeprecatedOperations().length > 0 ? ['sunset-has-callers'] : []),
];

const expectedAlarms: ExpectedAlarm[] = [
  ['server-errors', ['5XXError', 'Count'], 'ApiGateway'],
  ['failing', ['5XXError', 'Count'], 'ApiGateway'],
  ['throttled-requests', ['throttled', 'Count'], 'ApiGateway'],
  ['unauthorized-requests', ['unauthorized', 'Count'], 'ApiGateway'],
  ['forbidden-requests', ['forbidden', 'Count'], 'ApiGateway'],
  ...operationIds.flatMap((id): ExpectedAlarm[] => [
    [`${id}-server-errors`, [`${id}ServerErrors`, 'Invocations'], 'Lambda'],
    // Of the streamed list, the time to its first byte.
    operations[id].streamed
      ? [`${id}-latency`, [`${id}FirstByte`], undefined]
      : [`${id}-latency`, ['Duration'], 'Lambda'],
    [`${id}-errors`, ['Errors'], 'Lambda'],
    [`${id}-duration`, ['Duration'], 'Lambda'],
    [`${id}-throttles`, ['Throttles'], 'Lambda'],
  ]),
  ...tableNames.map(
    (table): ExpectedAlarm => [
      `${table}-table-throttles`,
      ['inventory', 'requests'].includes(table)
        ? ['ReadThrottleEvents', 'WriteThrottleEvents']
        : ['ReadThrottleEvents'],
      'DynamoDB',
    ],
  ),
  ...tableNames.map(
    (table): ExpectedAlarm => [
      `${table}-table-system-errors`,
      toCalls(table).map(() => 'SystemErrors'),
      'DynamoDB',
    ],
  ),
  ['transaction-conflicts', ['TransactionConflict'], 'DynamoDB'],
];

describe('what watches production', () => {
  const stage = 'production';
  const find = (type: string) =>
    Object.entries(watchTemplates[stage].findResources(type)) as [string, CfnResource][];
  const alarms = find('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
  const findAlarm = (name: string) =>
    alarms.find(({ AlarmName }) => AlarmName === `petstore-${stage}-${name}`);
  const topics = find('AWS::SNS::Topic');
  const toTopicId = (severity: string) =>
    topics.find(([id]) => id.startsWith(`${severity}Alarms`))?.[0];

  it.each(expectedAlarms)('has the alarm %s', (name, metrics, namespace) => {
    const alarm = findAlarm(name);
    const used = toMetrics(alarm);
    expect(used.map(({ MetricName }) => MetricName)).toEqual(metrics);
    const expected = namespace === undefined ? `petstore-${stage}` : `AWS/${namespace}`;
    expect(used.map(({ Namespace }) => Namespace)).toContain(expected);
  });

  it('has no other alarms', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName).sort()).toEqual(
      [...expectedAlarms.map(([name]) => name), ...checkAlarms]
        .map((name) => `petstore-${stage}-${name}`)
        .sort(),
    );
  });

  it('says with each alarm what it means and where to look, and sends its start and end', () => {
    for (const { AlarmName, AlarmDescription, AlarmActions, OKActions, ...alarm } of alarms) {
      expect(AlarmDescription).toMatch(/^(Page|Ticket): .{30,}\. .*\bLook (at|in) .*\.$/);
      const topicId = toTopicId(AlarmDescription.split(':')[0]);
      expect(AlarmActions).toEqual([{ Ref: topicId }]);
      expect(OKActions).toEqual([{ Ref: topicId }]);
      const isSilence = AlarmName.endsWith('check-failed');
      expect(alarm.TreatMissingData).toBe(isSilence ? 'breaching' : 'notBreaching');
    }
  });

  it('looks at what the service stack has, by its names', () => {
    const names = (type: string, property: string) =>
      Object.values(findResources(stage, type)).map(({ Properties }) => Properties[property]);
    const known: Record<string, unknown[]> = {
      ApiName: names('AWS::ApiGateway::RestApi', 'Name'),
      Stage: names('AWS::ApiGateway::Stage', 'StageName'),
      FunctionName: [
        ...names('AWS::Lambda::Function', 'FunctionName'),
        ...find('AWS::Lambda::Function').map(([, { Properties }]) => Properties.FunctionName),
      ],
      TableName: names('AWS::DynamoDB::Table', 'TableName'),
      Operation: tableNames.flatMap(toCalls),
    };
    const seen = new Set<string>();
    for (const { Dimensions = [] } of alarms.flatMap(toMetrics)) {
      for (const { Name, Value } of Dimensions) {
        expect(known[Name]).toContain(Value);
        seen.add(Name);
      }
    }
    expect([...seen].sort()).toEqual(Object.keys(known).sort());
    const logs = names('AWS::Logs::LogGroup', 'LogGroupName');
    const filters = find('AWS::Logs::MetricFilter');
    expect(filters).toHaveLength(4);
    for (const [, { Properties }] of filters) expect(logs).toContain(Properties.LogGroupName);
    for (const [, { Properties }] of find('AWS::Logs::QueryDefinition')) {
      expect(Properties.LogGroupNames.length).toBeGreaterThan(0);
      expect(logs).toEqual(expect.arrayContaining(Properties.LogGroupNames));
    }
  });

  it('encrypts its alarms with a key that CloudWatch may use, and lets no one else publish', () => {
    const [[keyId, key] = []] = find('AWS::KMS::Key');
    expect(topics).toHaveLength(2);
    for (const [, { Properties }] of topics)
      expect(Properties.KmsMasterKeyId).toEqual({ 'Fn::GetAtt': [keyId, 'Arn'] });
    expect(key?.Properties.EnableKeyRotation).toBe(true);
    expect(key?.Properties.KeyPolicy.Statement).toContainEqual({
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Resource: '*',
    });
    const policies = find('AWS::SNS::TopicPolicy');
    expect(policies).toHaveLength(2);
    for (const [, { Properties }] of policies) {
      const [topic] = Properties.Topics;
      expect(Properties.PolicyDocument.Statement).toEqual([
        expect.objectContaining({
          Effect: 'Deny',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
        expect.objectContaining({
          Effect: 'Allow',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Action: 'sns:Publish',
          Resource: topic,
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      ]);
    }
  });

  it('has one dashboard, with traffic, errors, latency, throttles, units and deprecated callers', () => {
    const [[, dashboard] = [], ...more] = find('AWS::CloudWatch::Dashboard');
    expect(more).toEqual([]);
    expect(dashboard?.Properties.DashboardName).toBe(`petstore-${stage}`);
    const body = JSON.stringify(dashboard?.Properties.DashboardBody);
    for (const shown of [
      'Count',
      '5XXError',
      'p50',
      'p90',
      'p99',
      'throttled',
      'Throttles',
      ...tableNames.flatMap((table) =>
        // Keys are written by hand alone.
        (table === 'apiKeys' ? ['Read'] : ['Read', 'Write']).map(
          (kind) => `Consumed${kind}CapacityUnits\\",\\"TableName\\",\\"petstore-${stage}-${table}`,
        ),
      ),
    ])
      expect(body.replaceAll('\\\\', '\\')).toContain(shown);
    // Four weeks against what the settings promise, for each operation.
    for (const id of operationIds) {
      for (const shown of [
        `${id} (at least 99.9)`,
        `100 * (1 - FILL(${id}Failed, 0) / ${id}Calls / 0.001000)`,
        `${id} (below ${operationSettings[id].latencyMilliseconds})`,
      ])
        expect(body.replaceAll('\\\\', '\\')).toContain(shown);
    }
    // And the estimated costs of each day of them.
    expect(body.match(/-P28D/g)).toHaveLength(3 + 1);
    expect(body).toContain(`SOURCE '/aws/lambda/petstore-${stage}-getPet'`);
    expect(body).toMatch(/stats count\(\*\).* by message\.operation, message\.keyName/);
  });

  it('waits for the service stack without taking its exports', () => {
    expect(JSON.stringify(watchTemplates[stage].toJSON())).not.toContain('ImportValue');
  });
});

it('watches staging, where no alarm fires, for nothing', () => {
  const { staging } = watchTemplates;
  for (const type of ['CloudWatch::Alarm', 'SNS::Topic', 'KMS::Key', 'Lambda::Function']) {
    staging.resourceCountIs(`AWS::${type}`, 0);
  }
  staging.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
  expect(Object.keys(staging.findResources('AWS::Logs::QueryDefinition')).length).toBeGreaterThan(
    5,
  );
});

describe('what watches a stage with other settings', () => {
  const { watch } = changed;
  const alarms = Object.values(watch.findResources('AWS::CloudWatch::Alarm'));

  it('sends its tickets to the address, and its pages to a topic of one’s own', () => {
    watch.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'ops@petstore.example',
    });
    watch.resourceCountIs('AWS::SNS::Topic', 1);
    watchTemplates.production.resourceCountIs('AWS::SNS::Subscription', 0);
    const pages = alarms.filter(({ Properties }) => /^Page/.test(Properties.AlarmDescription));
    expect(pages.length).toBeGreaterThan(5);
    for (const { Properties } of pages) {
      expect(Properties.AlarmActions).toEqual(['arn:aws:sns:eu-west-1:123456789012:pagers']);
    }
    expect(watch.findOutputs('PageTopicArn').PageTopicArn?.Value).toBe(
      'arn:aws:sns:eu-west-1:123456789012:pagers',
    );
  });

  it('does not page for an operation that was turned off', () => {
    const toSeverity = (name: string) =>
      alarms
        .find(({ Properties }) => Properties.AlarmName === `petstore-production-${name}`)
        ?.Properties.AlarmDescription.split(':')[0];
    expect(toSeverity('getPet-throttles')).toBe('Ticket');
    expect(toSeverity('listOrders-throttles')).toBe('Page');
  });

  it('looks at the concurrency that is reserved', () => {
    const alarm = alarms.find(
      ({ Properties }) => Properties.AlarmName === 'petstore-production-listInventory-concurrency',
    );
    expect(alarm?.Properties.Threshold).toBe(40);
    expect(toMetrics(alarm?.Properties)).toMatchObject([{ MetricName: 'ConcurrentExecutions' }]);
    expect(alarms).toHaveLength(expectedAlarms.length + checkAlarms.length + 3);
  });

  it('pages when no request has come for as long as the settings say', () => {
    const alarm = alarms.find(
      ({ Properties }) => Properties.AlarmName === 'petstore-production-silence',
    );
    expect(alarm?.Properties).toMatchObject({
      AlarmDescription: expect.stringMatching(/^Page: /),
      MetricName: 'Count',
      Statistic: 'Sum',
      Period: 900,
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      EvaluationPeriods: 1,
      TreatMissingData: 'breaching',
    });
  });

  it('looks at the concurrency of the account, where that is known', () => {
    const alarm = alarms.find(
      ({ Properties }) => Properties.AlarmName === 'petstore-production-account-concurrency',
    );
    expect(alarm?.Properties).toMatchObject({ MetricName: 'ConcurrentExecutions', Threshold: 800 });
    expect(alarm?.Properties.Dimensions).toBeUndefined();
  });

  it('looks at a restored table in place of the one that it stands for', () => {
    const text = JSON.stringify(watch.toJSON());
    expect(text).toContain('pets-restored');
    expect(text).not.toContain('"petstore-production-pets"');
  });
});

it('lets the functions use a restored table, and keeps the one that it stands for', () => {
  const { service } = changed;
  const functions = service.findResources('AWS::Lambda::Function', {
    Properties: { Environment: { Variables: { PETS_TABLE: 'pets-restored' } } },
  });
  expect(Object.keys(functions)).toHaveLength(1);
  const [granted] = Object.values(service.findResources('AWS::IAM::Policy'))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .filter((statement) => JSON.stringify(statement).includes(':table/pets-restored'));
  // Versions that were published before use the first table until nobody calls them any more.
  expect(granted.Resource).toEqual([
    expect.anything(),
    { 'Fn::GetAtt': [expect.stringMatching(/^petsTable/), 'Arn'] },
  ]);
  expect(service.findOutputs('PetsTableName').PetsTableName?.Value).toBe('pets-restored');
  service.hasResourceProperties('AWS::DynamoDB::Table', { TableName: 'petstore-production-pets' });
});

/** The kinds of call that the functions make to a table. */
function toCalls(table: TableName): string[] {
  if (table === 'requests') return ['TransactWriteItems'];
  const own = operationIds.flatMap((id) => suites[id].access[table] ?? []);
  const actions = table === 'apiKeys' ? ['dynamodb:GetItem'] : own;
  const calls = [...new Set(actions)].map((action) => action.replace('dynamodb:', ''));
  return table === 'inventory' ? [...calls, 'TransactWriteItems'] : calls;
}

interface UsedMetric {
  readonly MetricName: string;
  readonly Namespace: string;
  readonly Dimensions?: { Name: string; Value: string }[];
}

// biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is.
function toMetrics(alarm: any): UsedMetric[] {
  if (alarm.Metrics === undefined) return [alarm];
  return alarm.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: UsedMetric } }) =>
    MetricStat ? [MetricStat.Metric] : [],
  );
}
