import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it, onTestFinished } from 'vitest';
import { toMeanDollars } from '../../../infra/costs/bills/monthlyBill.ts';
import { operationSettings } from '../../../infra/stages/stages.ts';
import { tableNames } from '../../../infra/stages/tables.ts';
import { defineDashboards } from '../../../infra/watch/dashboard.ts';
import { defineAccessLogMetrics } from '../../../infra/watch/metrics.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import {
  readDashboards,
  synthesizeProduction,
  watchTemplates,
} from '../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';

const toNames = (row: readonly unknown[] = []) => row.filter((part) => typeof part === 'string');

// `templates/*.txt` have the dashboards. The costs depend on the measured units.
it.each(fixtureNames)('the dashboard of %s estimates the costs of each operation', (stage) => {
  const widgets = Object.values(readDashboards(watchTemplates[stage])).flat();
  const body = JSON.stringify(widgets.filter(({ title }) => /^Estimated/.test(title)));
  const found = [...body.matchAll(/"(0\.\d+) \* FILL\((\w+)Calls, 0\)"/g)];
  const expected = operationIds.map((id) => [
    id,
    expect.closeTo(Number(toMeanDollars(id, fixtures[stage].settings)), 12),
  ]);
  expect(found.map(([, factor, id]) => [id, Number(factor)])).toEqual(expected);
});

it('leaves out the costs in a region without prices, which can be deployed to all the same', () => {
  const { watch } = synthesizeProduction({ region: 'il-central-1' });
  const body = JSON.stringify(watch.findResources('AWS::CloudWatch::Dashboard'));
  expect(body).toContain('Availability, %');
  expect(body).not.toContain('Estimated dollars');
});

// https://aws.amazon.com/cloudwatch/pricing/: three dashboards of at most 50 metrics are free.
it.each([operationIds.length, 8])('are free with %i operations', (count) => {
  // Copies of one that writes all tables are added to the contract, in place.
  const known = operationIds.length;
  const ids = operationIds as OperationId[];
  const add = (all: object, id: OperationId, value: object) => Object.assign(all, { [id]: value });
  const access = Object.fromEntries(tableNames.map((table) => [table, ['dynamodb:PutItem']]));
  while (ids.length < count) {
    const id = `operation${ids.length}` as OperationId;
    ids.push(id);
    add(operations, id, operations.listInventory);
    add(operationSettings, id, { ...operationSettings.listInventory, access });
  }
  onTestFinished(() => {
    for (const id of ids.splice(known)) {
      for (const all of [operations, operationSettings])
        delete (all as Record<string, unknown>)[id];
    }
  });
  const [stack, stage] = [new Stack(new App()), fixtures.production];
  defineDashboards(stack, stage, defineAccessLogMetrics(stack, stage), []);
  const dashboards = readDashboards(Template.fromStack(stack));
  const names = ['petstore-production', 'petstore-production-capacity'];
  expect(Object.keys(dashboards).sort()).toEqual(names);
  for (const widgets of Object.values(dashboards)) {
    const metrics = widgets.flatMap((widget) => widget.metrics ?? []);
    const names = new Set(metrics.map((row) => toNames(row).join(' ')).filter(Boolean));
    expect(names.size).toBeLessThanOrEqual(50);
  }
});
