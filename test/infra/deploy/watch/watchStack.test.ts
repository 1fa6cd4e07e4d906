import type { Template } from 'aws-cdk-lib/assertions';
import { expect, it, onTestFinished } from 'vitest';
import type { Budget } from '../../../../infra/stages/stageSettings.ts';
import { operationSettings } from '../../../../infra/stages/stages.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import {
  type CfnResource,
  changedProduction,
  findProperties,
  readDashboards,
  type StageTemplates,
  synthesizeProduction,
  templates,
  watchTemplates,
} from '../../../support/stackTemplates.ts';
import { changedSettings, type FixtureName } from '../../../support/stageFixtures.ts';

// `templates/*.txt` have each resource's properties; these tests check how the resources relate.

const { production } = watchTemplates;
const alarms = findProperties(production, 'AWS::CloudWatch::Alarm');

it('a table that functions write in any way has an alarm on throttled writes', () => {
  const { access } = operationSettings.getInventoryEntry;
  Object.assign(operationSettings.getInventoryEntry, { access: { pets: ['dynamodb:PutItem'] } });
  onTestFinished(() => void Object.assign(operationSettings.getInventoryEntry, { access }));
  const changed = findProperties(synthesizeProduction({}).watch, 'AWS::CloudWatch::Alarm');
  const alarm = changed.find(({ AlarmName }) => /-table-throttles$/.test(AlarmName));
  const written = alarm?.Metrics.filter(
    ({ MetricStat }: CfnResource['Properties']) =>
      MetricStat?.Metric.MetricName === 'WriteThrottleEvents',
  );
  expect(JSON.stringify(written)).toContain('petstore-production-pets');
});

it('an operation that is turned off wakes nobody, and the check does not call it', () => {
  const found = findProperties(changedProduction().watch, 'AWS::CloudWatch::Alarm');
  const toSeverity = (name: string) =>
    found
      .find(({ AlarmName }) => AlarmName === `petstore-production-${name}`)
      ?.AlarmDescription.split(':')[0];
  for (const name of ['server-errors', 'failing']) {
    expect(toSeverity(`getInventoryEntry-${name}`)).toBe('Ticket');
    expect(toSeverity(`listOrders-${name}`)).toBe('Page');
  }
  const toAsked = (template: Template) =>
    findProperties(template, 'AWS::Lambda::Function').map(({ Environment }) =>
      Environment.Variables.OPERATIONS.split(','),
    );
  expect(toAsked(production)).toEqual([operationIds]);
  const others = operationIds.filter((id) => id !== 'getInventoryEntry');
  expect(toAsked(changedProduction().watch)).toEqual([others]);
});

it('each alarm says what it means and where to look, and sends its start and end', () => {
  const topics = Object.keys(production.findResources('AWS::SNS::Topic'));
  expect(topics).toHaveLength(2);
  const composites = findProperties(production, 'AWS::CloudWatch::CompositeAlarm');
  for (const [index, part] of [
    'getInventoryEntry-server-errors',
    'getInventoryEntry-failing',
  ].entries()) {
    expect(composites[index]?.AlarmDescription).toContain(part);
    expect(composites[index]?.AlarmActions).toHaveLength(1);
  }
  for (const { AlarmDescription, AlarmActions, OKActions } of [...composites, ...alarms]) {
    expect(AlarmDescription).toMatch(/^(Page|Ticket): .{30,}\. .*\bLook (at|in) .*\.$/);
    expect(AlarmDescription.length).toBeLessThan(1_024);
    if (!AlarmActions) continue;
    const [severity] = AlarmDescription.split(':');
    const actions = [{ Ref: topics.find((id) => id.startsWith(`${severity}Alarms`)) }];
    expect([AlarmActions, OKActions]).toEqual([actions, actions]);
  }
});

it('an alarm counts what each rate rule of the firewall refuses, by the metrics of the web ACL', () => {
  const { service, watch } = changedProduction();
  const [{ Rules, VisibilityConfig }] = findProperties(service, 'AWS::WAFv2::WebACL');
  const own = findProperties(watch, 'AWS::CloudWatch::Alarm').filter(({ Metrics = [] }) =>
    JSON.stringify(Metrics).includes('AWS/WAFV2'),
  );
  expect(own.map(({ AlarmName }) => AlarmName)).toEqual([
    'petstore-production-rate-limited-requests',
  ]);
  const { Metrics } = own[0];
  const counted = Metrics.flatMap(({ MetricStat }: CfnResource['Properties']) =>
    MetricStat ? [MetricStat.Metric] : [],
  );
  const refusing = Rules.filter(({ Statement }: CfnResource['Properties']) =>
    Boolean(Statement.RateBasedStatement),
  );
  expect(counted).toHaveLength(4);
  for (const [index, rule] of refusing.entries()) {
    const dimensions = counted[index].Dimensions.map(
      ({ Name, Value }: CfnResource['Properties']) => [Name, Value],
    );
    expect(counted[index]).toMatchObject({ Namespace: 'AWS/WAFV2', MetricName: 'BlockedRequests' });
    expect(Object.fromEntries(dimensions)).toEqual({
      WebACL: VisibilityConfig.MetricName,
      Rule: rule.VisibilityConfig.MetricName,
      Region: { Ref: 'AWS::Region' },
    });
  }
  expect(JSON.stringify(alarms)).not.toContain('AWS/WAFV2');
});

it('makes no key and no topic where both targets are topics', () => {
  const topic = 'arn:aws:sns:eu-west-1:123456789012:pagers';
  const { watch } = synthesizeProduction({ alarms: { page: topic, ticket: `${topic}-tickets` } });
  for (const type of ['AWS::KMS::Key', 'AWS::SNS::Topic']) {
    expect(watch.findResources(type)).toEqual({});
  }
});

it('each count has a metric of its own, of which nothing but the sum is read', () => {
  const stacks = [templates.production, production];
  const filters = stacks.flatMap((stack) => findProperties(stack, 'AWS::Logs::MetricFilter'));
  const values = filters.map(({ MetricTransformations: [{ MetricValue }] }) => MetricValue);
  expect([...new Set(values)].sort()).toEqual(['$.message.firstByteMilliseconds', '1']);
  const names = filters.map(({ MetricTransformations: [{ MetricName, Dimensions }] }) =>
    JSON.stringify([MetricName, Dimensions]),
  );
  expect(new Set(names).size).toBe(filters.length);
  expect(JSON.stringify(stacks)).not.toContain('SampleCount');
});

/** The metrics that count a line of the access log, by the template's filters. */
function countLine(stage: FixtureName, line: Readonly<Record<string, string>>): string[] {
  const filters = findProperties(watchTemplates[stage], 'AWS::Logs::MetricFilter');
  const is = (field: string, text: string) => {
    const value = String(line[field]);
    return text.endsWith('*') ? value.startsWith(text.slice(0, -1)) : value === text;
  };
  const isCounted = ({ FilterPattern }: CfnResource['Properties']) => {
    const condition = FilterPattern.slice(1, -1).replaceAll(
      /\$\.(\w+) (!?)= ("[^"]*")/g,
      '$2is("$1", $3)',
    );
    return new Function('is', `return ${condition};`)(is);
  };
  return filters
    .filter(isCounted)
    .map(({ MetricTransformations: [{ MetricName }] }) => MetricName)
    .sort();
}

const read = { method: 'GET', route: '/inventory/{petId}', status: '200', userAgent: 'shop/1.0' };
const [failures, clientErrors] = ['getInventoryEntryFailures', 'getInventoryEntryClientErrors'];
it.each<[what: string, change: Partial<typeof read>, counted: string[]]>([
  ['a response', {}, []],
  ['404 of the function', { status: '404' }, [clientErrors]],
  ['401 of the function', { status: '401' }, [clientErrors, 'unauthorized']],
  ['403 of the firewall', { status: '403' }, ['forbidden']],
  ['503 of the function', { status: '503' }, [failures]],
  ['a crash', { status: '502' }, [failures]],
  ['a timeout', { status: '504' }, [failures]],
  // https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway-errors.html
  ['a call that Lambda refused', { status: '500' }, [failures]],
  ['a request without a User-Agent', { userAgent: '-' }, []],
  ['a request that the gateway throttled', { status: '429' }, ['throttled']],
  ['a preflight', { method: 'OPTIONS' }, []],
  ['an update', { method: 'PATCH' }, []],
  ['an update that fails', { method: 'PATCH', status: '500' }, ['updateInventoryFailures']],
  ['an unknown path', { route: '/{unknownPath+}', status: '404' }, []],
  ['the scheduled check', { userAgent: 'petstore-check' }, []],
  ['its refused update', { userAgent: 'petstore-check', status: '403' }, []],
  ['its failures', { userAgent: 'petstore-check', status: '503' }, []],
])('counts the failures of each operation: %s', (_, change, counted) => {
  const line = { ...read, ...change };
  expect(countLine('production', line)).toEqual(counted);
  // Without alarms, nothing that only alarms read.
  const isFree = (name: string) => !/ClientErrors$/.test(name);
  expect(countLine('staging', line)).toEqual(counted.filter(isFree));
});

// If a budget's notifications change, CloudFormation creates a new budget before it deletes the old one.
it('a budget has another name after its receivers change, and the same after its limit changes', () => {
  const findName = ({ watch }: StageTemplates) =>
    findProperties(watch, 'AWS::Budgets::Budget').map(({ Budget }) => Budget.BudgetName);
  const findNameWith = (change: Partial<Budget>) =>
    findName(synthesizeProduction({ budget: { ...changedSettings.budget, ...change } }));
  const names = findName(changedProduction());
  expect(names).toEqual([expect.stringMatching(/^petstore-production-[0-9a-f]{8}$/)]);
  expect(findNameWith({ monthlyDollars: 300 })).toEqual(names);
  expect(findNameWith({ notify: ['cfo@petstore.example'] })).not.toEqual(names);
});

// https://aws.amazon.com/cloudwatch/pricing/: three dashboards of at most 50 metrics are free.
it('a dashboard is free with eight operations', () => {
  for (const [name, widgets] of Object.entries(readDashboards(production))) {
    const rows = widgets.flatMap(({ metrics = [] }) => metrics);
    const toName = (row: readonly unknown[]) =>
      row.filter((part) => typeof part === 'string').join();
    const metrics = [...new Set(rows.map(toName).filter(Boolean))];
    const counts = operationIds.map((id) => metrics.filter((metric) => metric.includes(id)).length);
    const more = Math.max(0, 8 - operationIds.length) * Math.max(...counts);
    expect(metrics.length + more, name).toBeLessThanOrEqual(50);
  }
});
