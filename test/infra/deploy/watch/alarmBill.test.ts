import { expect, it } from 'vitest';
import { operationIds } from '../../../../shared/contract/operations.ts';
import {
  type CfnResource,
  findProperties,
  templates,
  watchTemplates,
} from '../../../support/stackTemplates.ts';

/** Dollars a month, as `infra/costs/prices` has them for every region. */
const prices = { alarmMetric: 0.1, compositeAlarm: 0.5, customMetric: 0.3 };
/** Of the encryption key and the scheduled check. */
const OTHERS = 1.24;

const findAll = (type: string): CfnResource['Properties'][] =>
  [templates.production, watchTemplates.production].flatMap((one) => findProperties(one, type));

it('the alarms of production cost at most 16 dollars a month, with traffic or without', () => {
  const metrics = findAll('AWS::CloudWatch::Alarm').map(
    ({ Metrics }) => Metrics.filter((one: CfnResource['Properties']) => one.MetricStat).length,
  );
  // An alarm takes no more.
  expect(Math.max(...metrics)).toBeLessThanOrEqual(10);
  // Metrics of errors are billed only for hours with one.
  const filters = findAll('AWS::Logs::MetricFilter');
  const always = filters.filter(({ FilterPattern }) => !/\bstatus\b/.test(FilterPattern));
  const counted = always.map(({ MetricTransformations: [{ MetricName, Dimensions }] }) =>
    JSON.stringify([MetricName, Dimensions]),
  );
  const dollars =
    metrics.reduce((sum, count) => sum + count, 0) * prices.alarmMetric +
    findAll('AWS::CloudWatch::CompositeAlarm').length * prices.compositeAlarm +
    // The month of `infra/costs/traffic.json` has five metrics of errors.
    (new Set(counted).size + 5) * prices.customMetric;
  // Past six operations, each brings its own.
  const further = Math.max(0, operationIds.length - 6);
  expect(dollars).toBeLessThanOrEqual(16 + 2.5 * further);
  expect(dollars - 5 * prices.customMetric + OTHERS).toBeLessThanOrEqual(16 + 2.5 * further);
});
