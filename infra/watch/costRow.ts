import { Duration } from 'aws-cdk-lib';
import {
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import { toMeanDollars } from '../costs/bills/monthlyBill.ts';
import { toFunctionMetric } from '../service/serviceMetrics.ts';
import type { Stage } from '../stages/stages.ts';

/** Days that the estimate looks back on. */
const DAYS = 28;

const period = Duration.days(1);

/**
 * What the operations cost by their traffic, within minutes; the bill itself comes a day later. What a request
 * costs is the model's mean of the committed traffic's answers, so that a change of their mix does not show.
 */
export function toCostRow(stage: Stage): IWidget[] {
  return [
    new GraphWidget({
      title: 'Estimated dollars a day, by operation: its calls times what one costs',
      left: operationIds.flatMap((id) => toDollarsOfDay(stage, id)),
      stacked: true,
      width: 24,
      leftYAxis: { min: 0 },
      start: `-P${DAYS}D`,
      end: 'P0D',
    }),
  ];
}

/** None of an operation whose units were not measured yet. */
function toDollarsOfDay(stage: Stage, id: OperationId): IMetric[] {
  const dollars = toMeanDollars(id, stage.settings);
  if (dollars === undefined) return [];
  // Names are unique in a widget.
  const calls = `${id}Calls`;
  return [
    new MathExpression({
      label: id,
      // Metric math reads no exponents, which JavaScript writes small numbers with.
      expression: `${dollars.toFixed(12)} * FILL(${calls}, 0)`,
      usingMetrics: {
        [calls]: toFunctionMetric(stage, id, 'Invocations', { statistic: Stats.SUM, period }),
      },
      period,
    }),
  ];
}
