import { expect, it } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { templates, watchTemplates } from '../../support/stackTemplates.ts';
import { type FixtureName, fixtureNames } from '../../support/stageFixtures.ts';
import { readWidgets } from './dashboardWidgets.ts';

/** Dollars a month, in us-east-1: https://aws.amazon.com/cloudwatch/pricing/ and …/kms/pricing/ */
const ALARM_METRIC = 0.1;
const CUSTOM_METRIC = 0.3;
const KEY = 1;

/** What the scheduled check writes, and the first byte of the lists that it asks for. */
const METRICS_OF_THE_CHECK = 4;
/** Its runs, and the requests, time and log lines that they cost: 8,640 a month. */
const RUNS_OF_THE_CHECK = 0.2;

function toIdleDollars(stage: FixtureName): number {
  const find = (type: string) =>
    [templates[stage], watchTemplates[stage]].flatMap((template) =>
      Object.values(template.findResources(type)),
    );
  const metrics = find('AWS::CloudWatch::Alarm').flatMap(({ Properties }) =>
    Properties.Metrics
      ? Properties.Metrics.filter((metric: { MetricStat?: unknown }) => metric.MetricStat)
      : [Properties],
  );
  const checks = find('AWS::Events::Rule').length;
  return (
    metrics.length * ALARM_METRIC +
    find('AWS::KMS::Key').length * KEY +
    checks * (METRICS_OF_THE_CHECK * CUSTOM_METRIC + RUNS_OF_THE_CHECK)
  );
}

/** Each operation's alarms. */
const METRICS_OF_AN_OPERATION = 10;
const METRICS_OF_OPERATIONS = METRICS_OF_AN_OPERATION * operationIds.length;

it.each([
  ['production', 6 + METRICS_OF_OPERATIONS * ALARM_METRIC],
  ['staging', 1],
] as const)('%s costs at most $%i a month where nobody calls it', (stage, most) => {
  expect(toIdleDollars(stage)).toBeLessThanOrEqual(most);
});

it('counts the metrics that the runbook does', () => {
  expect(toIdleDollars('production')).toBeCloseTo(
    (35 + METRICS_OF_OPERATIONS) * ALARM_METRIC + 1 + 1.2 + RUNS_OF_THE_CHECK,
    9,
  );
});

// https://aws.amazon.com/cloudwatch/pricing/: three dashboards of at most 50 metrics are free.
it.each(fixtureNames)('%s has a dashboard of so few metrics that it is free', (stage) => {
  const metrics = readWidgets(stage).flatMap((widget) => [...widget.metrics.values()]);
  const names = new Set(metrics.map((metric) => metric.join(' ')));
  expect(names.size).toBeGreaterThan(30);
  expect(names.size).toBeLessThanOrEqual(50);
});

it('gives the metric of the bytes sent no value of the check’s own small answers', () => {
  const [filter] = Object.values(
    watchTemplates.production.findResources('AWS::Logs::MetricFilter', {
      Properties: { MetricTransformations: [{ MetricName: 'sentBytes' }] },
    }),
  );
  expect(filter?.Properties.FilterPattern).toBe('{ $.bytes >= 1024 }');
  expect(filter?.Properties.MetricTransformations[0].MetricValue).toBe('$.bytes');
});
