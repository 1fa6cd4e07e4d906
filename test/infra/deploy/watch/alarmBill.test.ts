import fs from 'node:fs';
import { expect, it, vi } from 'vitest';
import { toEntry } from '../../../../infra/deploy/bundling/bundling.ts';
import { operationSettings, type Stage } from '../../../../infra/stages/stages.ts';
import { operationIds, operations } from '../../../../shared/contract/operations.ts';
import {
  type CfnResource,
  findProperties,
  type StageTemplates,
  synthesizeStages,
  templates,
  watchTemplates,
} from '../../../support/stackTemplates.ts';
import { fixtures } from '../../../support/stageFixtures.ts';

/** Dollars a month, as `infra/costs/prices` has them for every region. */
const prices = { alarmMetric: 0.1, compositeAlarm: 0.5, customMetric: 0.3 };

/** The next operation of the contract: it writes an entry, as updateInventory does. */
const next = 'nextOperation';

const now: StageTemplates = { service: templates.production, watch: watchTemplates.production };

/** Production's templates with one more operation. Its function is not written yet. */
function synthesizeWithNext(): StageTemplates {
  const { updateInventory } = operations;
  const path = '/inventory/{petId}/adjustments';
  const added = { ...updateInventory, operationId: next, method: 'POST', path };
  const addTo = (record: object) =>
    Object.assign(record, { [next]: Reflect.get(record, 'updateInventory') });
  const exists = fs.existsSync;
  const spy = vi
    .spyOn(fs, 'existsSync')
    .mockImplementation((file) => file === toEntry(next as never) || exists(file));
  const { settings } = fixtures.production;
  const [throttles, memoryMegabytes] = [settings.throttles, settings.memoryMegabytes].map((one) =>
    addTo({ ...one }),
  );
  const stage = { ...fixtures.production, settings: { ...settings, throttles, memoryMegabytes } };
  const ids = operationIds as string[];
  try {
    addTo(operationSettings);
    Object.assign(operations, { [next]: added });
    ids.push(next);
    return synthesizeStages([stage as unknown as Stage]).production;
  } finally {
    spy.mockRestore();
    for (const record of [operations, operationSettings]) Reflect.deleteProperty(record, next);
    ids.pop();
  }
}

function findAll({ service, watch }: StageTemplates, type: string): CfnResource['Properties'][] {
  return [service, watch].flatMap((template) => findProperties(template, type));
}

/** How many alarms a stage has, the most metrics of one, and what all of them cost a month. */
function toBill(stage: StageTemplates) {
  const alarms = findAll(stage, 'AWS::CloudWatch::Alarm');
  const composites = findAll(stage, 'AWS::CloudWatch::CompositeAlarm');
  const held = alarms.map(({ Metrics }) => Metrics.filter(isRead).length);
  const counted = findAll(stage, 'AWS::Logs::MetricFilter').map((one) => ({
    text: JSON.stringify(one.MetricTransformations.map(toIdentity)),
    // Errors are counted by the status. Their metrics are billed only for hours with one.
    isOfErrors: /\bstatus\b/.test(one.FilterPattern),
  }));
  const countMetrics = (some: typeof counted) => new Set(some.map(({ text }) => text)).size;
  const dollars =
    held.reduce((sum, count) => sum + count, 0) * prices.alarmMetric +
    composites.length * prices.compositeAlarm;
  const always = counted.filter(({ isOfErrors }) => !isOfErrors);
  return {
    alarms: alarms.length + composites.length,
    largest: Math.max(...held),
    withoutErrors: dollars + countMetrics(always) * prices.customMetric,
    errorMetrics: countMetrics(counted) - countMetrics(always),
  };
}

const isRead = ({ MetricStat }: CfnResource['Properties']) => MetricStat !== undefined;
const toIdentity = ({ MetricName, Dimensions }: CfnResource['Properties']) => [
  MetricName,
  Dimensions,
];

it.each([
  ['now', () => now],
  ['with one more operation', synthesizeWithNext],
])(
  '%s, production has at most 40 alarms, and they cost at most 16 dollars a month',
  (what, read) => {
    const { alarms, largest, withoutErrors, errorMetrics } = toBill(read());
    // Past six operations, each brings its own.
    const further = Math.max(0, operationIds.length + (what === 'now' ? 0 : 1) - 6);
    expect(alarms).toBeLessThanOrEqual(40 + 4 * further);
    // Without errors, with the encryption key and the scheduled check.
    expect(withoutErrors + 1.24).toBeLessThanOrEqual(16 + 2.5 * further);
    // An alarm takes no more.
    expect(largest).toBeLessThanOrEqual(10);
    // The month of `infra/costs/traffic.json` has five: 401 of other reads, 412 of updateInventory, each by version too, and
    // all 401.
    expect(errorMetrics).toBeGreaterThanOrEqual(5);
    expect(withoutErrors + 5 * prices.customMetric).toBeLessThanOrEqual(16 + 2.5 * further);
  },
);
