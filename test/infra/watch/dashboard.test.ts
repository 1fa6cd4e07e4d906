import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it, onTestFinished } from 'vitest';
import { toMeanDollars } from '../../../infra/costs/bills/monthlyBill.ts';
import { operationSettings } from '../../../infra/stages/stages.ts';
import { tableNames } from '../../../infra/stages/tables.ts';
import { defineDashboards } from '../../../infra/watch/dashboard.ts';
import { defineAccessLogMetrics } from '../../../infra/watch/metrics.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { synthesizeProduction, watchTemplates } from '../../support/stackTemplates.ts';
import { type FixtureName, fixtureNames, fixtures } from '../../support/stageFixtures.ts';

interface Widget {
  readonly title: string;
  /** Namespace, name, dimensions with values, then options; or only an expression. */
  readonly metrics?: readonly (string | Readonly<Record<string, string>>)[][];
}

/** The widgets of a stage's dashboards, by their names. */
function readDashboards(template: Template): Record<string, Widget[]> {
  const found = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  return Object.fromEntries(
    found.map(({ Properties: { DashboardName, DashboardBody } }) => {
      const [separator, parts] = DashboardBody['Fn::Join'];
      const text = parts.map((part: unknown) => (typeof part === 'string' ? part : 'eu-west-1'));
      const { widgets } = JSON.parse(text.join(separator));
      return [DashboardName, widgets.map(({ properties }: { properties: Widget }) => properties)];
    }),
  );
}

const readWidgets = (stage: FixtureName) =>
  Object.values(readDashboards(watchTemplates[stage])).flat();

const toNames = (row: readonly unknown[] = []) => row.filter((part) => typeof part === 'string');

it.each(fixtureNames)(
  'the dashboard of %s estimates each operation’s costs by its own calls',
  (stage) => {
    const [graph, ...others] = readWidgets(stage).filter(({ title }) => /^Estimated/.test(title));
    expect(others).toEqual([]);
    expect(graph).toMatchObject({ start: '-P28D', stacked: true });
    const rows = graph?.metrics ?? [];
    const expressions = rows.flatMap(([first]) => (typeof first === 'object' ? [first] : []));
    expect(expressions.map(({ label }) => label)).toEqual(operationIds);
    const sums = JSON.stringify(rows).match(/"period":86400,"stat":"Sum"/g);
    expect(sums).toHaveLength(operationIds.length);
    for (const [index, id] of operationIds.entries()) {
      const text = expressions[index]?.expression ?? '';
      const [, factor, calls] = /^(0\.\d+) \* FILL\((\w+), 0\)$/.exec(text) ?? [];
      expect(Number(factor)).toBeCloseTo(Number(toMeanDollars(id, fixtures[stage].settings)), 12);
      const metric = ['AWS/Lambda', 'Invocations', 'FunctionName', `petstore-${stage}-${id}`];
      const counted = rows.find((row) => Object(row.at(-1)).id === calls);
      expect(toNames(counted)).toEqual(metric);
    }
  },
);

it('leaves out the costs in a region without prices, which can be deployed to all the same', () => {
  const { watch } = synthesizeProduction({ region: 'il-central-1' });
  const body = JSON.stringify(watch.findResources('AWS::CloudWatch::Dashboard'));
  expect(body).toContain('Availability, %');
  expect(body).not.toContain('Estimated dollars');
});

it('shows traffic, errors, latency, throttles, units and deprecated callers', () => {
  const body = JSON.stringify(readWidgets('production'));
  const ofTable = '"TableName","petstore-production-';
  const shown = [
    ...['"Count"', '5XXError', '4XXError', 'p50', 'p90', 'p99', '"throttled"'],
    ...tableNames.map((table) => `"ConsumedReadCapacityUnits",${ofTable}${table}"`),
    // Four weeks against the promise in the settings.
    ...operationIds.flatMap((id) => [
      `${id} (at least 99.9)`,
      `100 * (1 - FLOOR(FILL(${id}Counts, 0) / 10000000000) / (${id}Asked - `,
      ` * FLOOR(${id}Asked / 10000000000)) / 0.001000)`,
      `"petstore-production","${id}Requests"`,
      `${id} (below ${operationSettings[id].latencyMilliseconds})`,
      `${id} at once`,
      `${id} throttled`,
    ]),
    "SOURCE '/aws/lambda/petstore-production-getPet'",
    'by message.commit, message.operation',
  ];
  for (const text of shown) expect(body).toContain(text);
  const { maximumUnitsPerSecond } = fixtures.production.settings;
  for (const table of tableNames) {
    const label = `${table} (at most ${maximumUnitsPerSecond[table].read})`;
    const expression = `${table}Read / PERIOD(${table}Read)`;
    expect(body).toContain(JSON.stringify({ label, expression }).slice(1, -1));
  }
  expect(body).toContain(`"inventory (at most ${maximumUnitsPerSecond.inventory.write})"`);
  // Keys are written only by hand.
  const isWritten = (table: string) =>
    body.includes(`"ConsumedWriteCapacityUnits",${ofTable}${table}"`);
  expect(tableNames.filter(isWritten)).toEqual(tableNames.filter((one) => one !== 'apiKeys'));
  // One number for everything except the costs.
  expect(body.match(/-P28D/g)).toHaveLength(3 + 1);
  expect(body.match(/"setPeriodToTimeRange":true/g)).toHaveLength(3);
  expect(body).toMatch(/stats count\(\*\).* by message\.operation, message\.keyName/);
  expect(readWidgets('production')[0]?.title).toBe('Alarms');
  expect(readWidgets('staging')[0]?.title).not.toBe('Alarms');
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
