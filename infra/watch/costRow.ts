import { GraphWidget, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Stage } from '../stages/stages.ts';
import {
  type CostEstimate,
  estimateComponents,
  estimateOperations,
  toDollars,
} from './costEstimates.ts';

/** Days that the estimates look back on. */
const DAYS = 28;

/** Of 24 columns. */
const width = 6;

/** What the stage costs by its traffic, as CloudWatch counts it and within minutes; the bill itself comes a day later. */
export function toCostRow(stage: Stage): IWidget[] {
  const components = estimateComponents(stage);
  const ids = estimateOperations(stage);
  return [
    toGraph('a day, by component', components, 'day'),
    toGraph('per 1,000 requests, by component', components, 'thousandRequests'),
    toGraph('a day, by operation (no transfer, no traces)', ids, 'day'),
    toGraph('per 1,000 of its requests', ids, 'thousandRequests'),
  ];
}

function toGraph(
  what: string,
  estimates: readonly CostEstimate[],
  per: Parameters<typeof toDollars>[1],
): GraphWidget {
  return new GraphWidget({
    title: `Estimated dollars ${what}`,
    left: estimates.map((estimate) => toDollars(estimate, per)),
    stacked: true,
    width,
    leftYAxis: { min: 0 },
    start: `-P${DAYS}D`,
    end: 'P0D',
  });
}
