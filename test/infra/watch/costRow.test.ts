import { describe, expect, it } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { type FixtureName, fixtureNames } from '../../support/stageFixtures.ts';
import { type DashboardWidget, readWidgets } from './dashboardWidgets.ts';

const GIGABYTE = 2 ** 30;

/** What CloudWatch counted in a day, by the metric's name and what it is of. */
type Day = Readonly<Record<string, number>>;

/** A million pets read, at 20 ms and half a unit each, some of them large. */
const pets: Day = {
  Count: 1_000_000,
  'Invocations getPet': 1_000_000,
  'Duration getPet': 20_000_000,
  'ConsumedReadCapacityUnits pets': 500_000,
  'ConsumedReadCapacityUnits apiKeys': 100_000,
  'IncomingBytes getPet': GIGABYTE,
  'IncomingBytes /aws/apigateway/': GIGABYTE / 2,
  sentBytes: 10 * GIGABYTE,
};

function findGraphs(stage: FixtureName): DashboardWidget[] {
  return readWidgets(stage).filter(({ title }) => title.startsWith('Estimated dollars'));
}

/** What each line of a graph shows for a day, by its label. */
function evaluate({ metrics, expressions }: DashboardWidget, day: Day): Record<string, number> {
  const values = [...metrics].map(([id, [, name = '', ...dimensions]]) => {
    const of = dimensions.at(-1) ?? '';
    const found = Object.entries(day).find(([key]) => {
      const [counted, owner = ''] = key.split(' ');
      const isOwn = owner.endsWith('/') ? of.startsWith(owner) : of.endsWith(`-${owner}`);
      return counted === name && (owner === '' || isOwn);
    });
    return [id, found?.[1] ?? Number.NaN] as const;
  });
  const scope = {
    FILL: (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value),
    IF: (condition: boolean, one: number, other: number) => (condition ? one : other),
    ...Object.fromEntries(values),
  };
  return Object.fromEntries(
    expressions.map(({ label, expression }) => [
      label,
      new Function(...Object.keys(scope), `return ${expression};`)(...Object.values(scope)),
    ]),
  );
}

function expectDollars(found: Record<string, number>, wanted: Record<string, number>): void {
  expect(Object.keys(found)).toEqual(Object.keys(wanted));
  for (const [label, dollars] of Object.entries(wanted)) {
    expect(found[label], label).toBeCloseTo(dollars, 6);
  }
}

describe('the estimated costs of production', () => {
  const [byComponent, ofComponents, byOperation, ofOperations] = findGraphs('production');
  const components = {
    gateway: 3.5,
    // 20,000 seconds in half a gigabyte.
    Lambda: 0.2 + 20_000 * 0.5 * 0.0000133334,
    'read units': 0.6 * 0.125,
    'write units': 0,
    // Headers and small bodies of all, and the bodies of the large ones.
    transfer: ((1_000_000 * 800) / GIGABYTE + 10) * 0.09,
    logs: 1.5 * 0.5,
    // One in a hundred.
    traces: 0.01 * 5,
  };
  const getPet = 3.5 + components.Lambda + 0.5 * 0.125 + 0.5;

  it('are those of a day by what AWS bills apart', () => {
    expectDollars(evaluate(byComponent as DashboardWidget, pets), components);
  });

  it('are those of a thousand requests', () => {
    const wanted = Object.entries(components).map(([label, dollars]) => [label, dollars / 1_000]);
    const found = evaluate(ofComponents as DashboardWidget, pets);
    expectDollars(found, Object.fromEntries(wanted));
    expect(evaluate(ofOperations as DashboardWidget, pets).getPet).toBeCloseTo(getPet / 1_000, 9);
  });

  it('are those of a day by operation, each with its own function, log and tables', () => {
    const idle = Object.fromEntries(operationIds.map((id) => [id, 0]));
    const found = (day: Day) => evaluate(byOperation as DashboardWidget, day);
    expectDollars(found(pets), { ...idle, getPet });
    expectDollars(
      found({
        'ConsumedReadCapacityUnits inventory': 222_000_000,
        'ConsumedWriteCapacityUnits inventory': 1_000_000,
        'ConsumedReadCapacityUnits orders': 2_000_000,
        'ConsumedWriteCapacityUnits requests': 1_000_000,
      }),
      { ...idle, listInventory: 27.75, updateInventory: 2 * 0.625, listOrders: 0.25 },
    );
  });

  it('leave out no call of a function', () => {
    const calls = Object.fromEntries(operationIds.map((id) => [`Invocations ${id}`, 1_000_000]));
    expect(evaluate(byComponent as DashboardWidget, calls).Lambda).toBeCloseTo(0.8, 9);
  });
});

it('takes staging’s traces for one a second at most', () => {
  const [graph] = findGraphs('staging');
  const traces = (Count: number) => evaluate(graph as DashboardWidget, { Count }).traces;
  expect(traces(1_000)).toBeCloseTo(0.005, 9);
  expect(traces(1_000_000)).toBeCloseTo(86_400 * 5e-6, 9);
});

it.each(fixtureNames)('of %s are of days, and in numbers that metric math can read', (stage) => {
  const graphs = findGraphs(stage);
  expect(graphs.map(({ properties }) => [properties.start, properties.stacked])).toEqual(
    Array.from({ length: 4 }, () => ['-P28D', true]),
  );
  const expressions = graphs.flatMap((graph) => graph.expressions);
  expect(expressions.length).toBe(2 * (7 + operationIds.length));
  for (const { expression } of expressions) expect(expression).not.toMatch(/\de[-+]?\d/);
});
