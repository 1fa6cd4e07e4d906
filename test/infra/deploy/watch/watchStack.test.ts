import type { Template } from 'aws-cdk-lib/assertions';
import { expect, it, onTestFinished } from 'vitest';
import { operationSettings } from '../../../../infra/stages/stages.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import {
  type CfnResource,
  changedProduction,
  findProperties,
  type StageTemplates,
  synthesizeProduction,
  templates,
  watchTemplates,
} from '../../../support/stackTemplates.ts';
import { changedSettings } from '../../../support/stageFixtures.ts';
import { readAlarms } from './readAlarms.ts';

// `templates.txt` has each resource's properties; these tests check how the resources relate.

const { production } = watchTemplates;
const alarms = findProperties(production, 'AWS::CloudWatch::Alarm');
const topic = 'arn:aws:sns:eu-west-1:123456789012:pagers';
/** With a firewall by which any address could use up any throttle, and more dollars than `changedProduction`. */
const withFirewall = synthesizeProduction({
  firewall: true,
  firewallRequestsPerAddress: 30_000,
  budget: { ...changedSettings.budget, monthlyDollars: 300 },
});
/** With its own topics, and another receiver of the budget. */
const withTopics = synthesizeProduction({
  alarms: { page: topic, ticket: `${topic}-tickets` },
  budget: { ...changedSettings.budget, notify: ['cfo@petstore.example'] },
});

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

it('two alarms count what the firewall refuses by its limits and by the rules of AWS, and none what people block', () => {
  const { service, watch } = withFirewall;
  const [{ Rules, VisibilityConfig }] = findProperties(service, 'AWS::WAFv2::WebACL');
  const toMetrics = (rules: readonly CfnResource['Properties'][]) =>
    rules.map((rule) => ({
      Namespace: 'AWS/WAFV2',
      MetricName: 'BlockedRequests',
      Dimensions: expect.arrayContaining([
        { Name: 'WebACL', Value: VisibilityConfig.MetricName },
        { Name: 'Rule', Value: rule.VisibilityConfig.MetricName },
        { Name: 'Region', Value: { Ref: 'AWS::Region' } },
      ]),
    }));
  const read = findProperties(watch, 'AWS::CloudWatch::Alarm').flatMap(({ AlarmName, Metrics }) => {
    const metrics = Metrics.flatMap(({ MetricStat }: CfnResource['Properties']) =>
      MetricStat?.Metric.Namespace === 'AWS/WAFV2' ? MetricStat.Metric : [],
    );
    expect(metrics.length).toBeLessThanOrEqual(10);
    return metrics.length > 0 ? [[AlarmName, metrics]] : [];
  });
  const [blocked, ...others] = Rules;
  expect(blocked.Name).toBe('blocked');
  const isRate = ({ Statement }: CfnResource['Properties']) => 'RateBasedStatement' in Statement;
  expect(read).toEqual([
    ['petstore-production-rate-limited-requests', toMetrics(others.filter(isRate))],
    ['petstore-production-suspicious-requests', toMetrics(others.slice(-2))],
  ]);
  expect(JSON.stringify(alarms)).not.toContain('AWS/WAFV2');
});

it.each([
  ['server-errors', '5XXError', 5, 1],
  ['throttled-requests', 'throttled', 50, 5],
  ['unauthorized-requests', 'unauthorized', 50, 20],
  ['forbidden-requests', 'forbidden', 50, 10],
])('a flood that the firewall blocks hides no %s', (name, metric, counted, percent) => {
  const alarm = readAlarms(changedProduction().watch).find((one) => one.name === name);
  const requests = (100 * counted) / percent;
  const isFiring = (Count: number, filtered: number) =>
    alarm?.isBreaching(alarm.toValue({ [metric]: counted, Count, filtered }));
  expect(isFiring(requests, 0)).toBe(true);
  expect(isFiring(requests + 1, 0)).toBe(false);
  expect(isFiring(requests + 90_000, 90_000)).toBe(true);
  expect(isFiring(requests + 90_001, 90_000)).toBe(false);
  // The log may have a line in another period than the metric.
  expect(alarm?.toValue({ [metric]: counted, Count: 90_000, filtered: 90_009 })).toBe(100);
});

it('makes no key and no topic where both targets are topics', () => {
  const { watch } = withTopics;
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
function countLine(watch: Template, line: Readonly<Record<string, string>>): string[] {
  const filters = findProperties(watch, 'AWS::Logs::MetricFilter');
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

const read = {
  ...{ method: 'GET', route: '/inventory/{petId}', status: '200', userAgent: 'shop/1.0' },
  gatewayError: '-',
};
const filtered = { ...read, status: '403', gatewayError: 'WAF_FILTERED' };
const [failures, clientErrors] = ['getInventoryEntryFailures', 'getInventoryEntryClientErrors'];
it.each<[what: string, change: Partial<typeof read>, counted: string[]]>([
  ['a response', {}, []],
  ['404 of the function', { status: '404' }, [clientErrors]],
  ['401 of the function', { status: '401' }, [clientErrors, 'unauthorized']],
  ['403 of the function', { status: '403' }, ['forbidden']],
  ['403 of the firewall', filtered, []],
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
  expect(countLine(production, line)).toEqual(counted);
  // Without alarms, nothing that only alarms read.
  const isFree = (name: string) => !/ClientErrors$/.test(name);
  expect(countLine(watchTemplates.staging, line)).toEqual(counted.filter(isFree));
});

// If a budget's notifications change, CloudFormation creates a new budget before it deletes the old one.
it('a budget has another name after its receivers change, and the same after its limit changes', () => {
  const findName = ({ watch }: StageTemplates) =>
    findProperties(watch, 'AWS::Budgets::Budget').map(({ Budget }) => Budget.BudgetName);
  const names = findName(changedProduction());
  expect(names).toEqual([expect.stringMatching(/^petstore-production-[0-9a-f]{8}$/)]);
  expect(findName(withFirewall)).toEqual(names);
  expect(findName(withTopics)).not.toEqual(names);
});

it('what the firewall blocks counts by itself, and is no request where none pages', () => {
  const { watch } = changedProduction();
  expect(countLine(watch, filtered)).toEqual(['filtered']);
  expect(countLine(watch, { ...read, status: '403' })).toEqual(['forbidden', 'requests']);
  const { watch: silent } = synthesizeProduction({
    ...{ firewall: true, raisesAlarms: false, checkEveryMinutes: 5, protectsData: true },
  });
  expect(countLine(silent, filtered)).toEqual([]);
});
