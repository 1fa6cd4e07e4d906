import { expect, it } from 'vitest';
import { toMeanDollars } from '../../../infra/costs/bills/monthlyBill.ts';
import { operationSettings } from '../../../infra/stages/stages.ts';
import { tableNames } from '../../../infra/stages/tables.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { watchTemplates } from '../../support/stackTemplates.ts';
import { type FixtureName, fixtureNames, fixtures } from '../../support/stageFixtures.ts';

interface Widget {
  readonly title: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Namespace, name, then dimensions and their values, by the ids that expressions know them by, or by their place. */
  readonly metrics: ReadonlyMap<string, readonly string[]>;
  readonly expressions: readonly { readonly expression: string; readonly label: string }[];
}

/** The widgets of a stage's only dashboard. */
function readWidgets(stage: FixtureName): Widget[] {
  const found = watchTemplates[stage].findResources('AWS::CloudWatch::Dashboard');
  const [dashboard, ...others] = Object.values(found);
  expect(others).toEqual([]);
  expect(dashboard?.Properties.DashboardName).toBe(`petstore-${stage}`);
  const [separator, parts] = dashboard?.Properties.DashboardBody['Fn::Join'] ?? [];
  const text = parts.map((part: unknown) => (typeof part === 'string' ? part : 'eu-west-1'));
  const { widgets } = JSON.parse(text.join(separator));
  return widgets.map(({ properties }: { properties: Record<string, unknown> }) => {
    const rows = (properties.metrics ?? []) as (string | { id?: string })[][];
    const metrics = new Map<string, readonly string[]>();
    const expressions: { expression: string; label: string }[] = [];
    for (const [place, row] of rows.entries()) {
      const options = row.find((part) => typeof part === 'object') ?? {};
      const names = row.filter((part) => typeof part === 'string');
      if (names.length > 0) metrics.set(options.id ?? String(place), names);
      else expressions.push(options as Widget['expressions'][number]);
    }
    return { title: String(properties.title), properties, metrics, expressions };
  });
}

it.each(fixtureNames)('the dashboard of %s estimates each operation by its own calls', (stage) => {
  const [graph, ...others] = readWidgets(stage).filter(({ title }) => /^Estimated/.test(title));
  expect(others).toEqual([]);
  expect(graph?.properties).toMatchObject({ start: '-P28D', stacked: true });
  expect(graph?.expressions.map(({ label }) => label)).toEqual(operationIds);
  const sums = JSON.stringify(graph?.properties.metrics).match(/"period":86400,"stat":"Sum"/g);
  expect(sums).toHaveLength(operationIds.length);
  for (const [index, id] of operationIds.entries()) {
    const text = graph?.expressions[index]?.expression ?? '';
    const [, factor, calls] = /^(0\.\d+) \* FILL\((\w+), 0\)$/.exec(text) ?? [];
    expect(Number(factor)).toBeCloseTo(Number(toMeanDollars(id, fixtures[stage].settings)), 12);
    const metric = ['AWS/Lambda', 'Invocations', 'FunctionName', `petstore-${stage}-${id}`];
    expect(graph?.metrics.get(calls ?? '')).toEqual(metric);
  }
});

it('shows traffic, errors, latency, throttles, units and deprecated callers', () => {
  const body = JSON.stringify(readWidgets('production').map(({ properties }) => properties));
  const shown = [
    ...['"Count"', '5XXError', '4XXError', 'p50', 'p90', 'p99', '"throttled"'],
    ...tableNames.map(
      (table) => `"ConsumedReadCapacityUnits","TableName","petstore-production-${table}"`,
    ),
    // Four weeks against what the settings promise.
    ...operationIds.flatMap((id) => [
      `${id} (at least 99.9)`,
      `100 * (1 - FILL(${id}Failed, 0) / ${id}Calls)`,
      `100 * (1 - FILL(${id}Failed, 0) / ${id}Calls / 0.001000)`,
      `${id} (below ${operationSettings[id].latencyMilliseconds})`,
      `${id} at once`,
      `${id} throttled`,
    ]),
    "SOURCE '/aws/lambda/petstore-production-getPet'",
    'by message.commit, message.operation',
  ];
  for (const text of shown) expect(body).toContain(text);
  // Keys are written by hand alone.
  const written = body.matchAll(
    /ConsumedWriteCapacityUnits","TableName","petstore-production-(\w+)/g,
  );
  expect([...written].map(([, table]) => table)).toEqual(
    tableNames.filter((one) => one !== 'apiKeys'),
  );
  // One number for all of it, but for the costs.
  expect(body.match(/-P28D/g)).toHaveLength(3 + 1);
  expect(body.match(/"setPeriodToTimeRange":true/g)).toHaveLength(3);
  expect(body).toMatch(/stats count\(\*\).* by message\.operation, message\.keyName/);
  expect(readWidgets('production')[0]?.title).toBe('Alarms');
  expect(readWidgets('staging')[0]?.title).not.toBe('Alarms');
});

// https://aws.amazon.com/cloudwatch/pricing/: three dashboards of at most 50 metrics are free.
it.each(fixtureNames)('%s has a dashboard of so few metrics that it is free', (stage) => {
  const metrics = readWidgets(stage).flatMap((widget) => [...widget.metrics.values()]);
  const names = new Set(metrics.map((metric) => metric.join(' ')));
  expect(names.size).toBeGreaterThan(30);
  expect(names.size).toBeLessThanOrEqual(50);
});
