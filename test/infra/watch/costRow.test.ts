import { expect, it } from 'vitest';
import { toMeanDollars } from '../../../infra/costs/bills/monthlyBill.ts';
import { stageNames, stages } from '../../../infra/stages/stages.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { readWidgets } from './dashboardWidgets.ts';

it.each(stageNames)('the dashboard of %s estimates each operation by its own calls', (stage) => {
  const graphs = readWidgets(stage).filter(({ title }) => title.startsWith('Estimated dollars'));
  expect(graphs).toHaveLength(1);
  const [graph] = graphs;
  expect(graph?.properties).toMatchObject({ start: '-P28D', stacked: true });
  expect(graph?.expressions.map(({ label }) => label)).toEqual(operationIds);
  const sums = JSON.stringify(graph?.properties.metrics).match(/"period":86400,"stat":"Sum"/g);
  expect(sums).toHaveLength(operationIds.length);
  for (const [index, id] of operationIds.entries()) {
    const text = graph?.expressions[index]?.expression ?? '';
    const [, factor, calls] = /^(0\.\d+) \* FILL\((\w+), 0\)$/.exec(text) ?? [];
    expect(Number(factor)).toBeCloseTo(Number(toMeanDollars(id, stages[stage].settings)), 12);
    expect(graph?.metrics.get(calls ?? '')).toEqual([
      'AWS/Lambda',
      'Invocations',
      'FunctionName',
      `petstore-${stage}-${id}`,
    ]);
  }
});
