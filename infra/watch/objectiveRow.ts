import { Duration } from 'aws-cdk-lib';
import {
  type IMetric,
  type IWidget,
  MathExpression,
  SingleValueWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import { toFunctionMetric } from '../metrics/functionMetrics.ts';
import { toLatencyMetric } from '../metrics/latencyMetric.ts';
import { toLogMetric } from '../metrics/logMetrics.ts';
import { operationSettings, type Stage } from '../stages/stages.ts';

/** Days that the objectives look back on. */
const DAYS = 28;

/** Of 24 columns. */
const width = 8;

// A widget that takes its whole time for one period makes one number of it, whatever period is named here.
const sum = { statistic: Stats.SUM, period: Duration.days(1) };

/** How the operations did in the last four weeks, against what their settings promise. */
export function toObjectiveRow(stage: Stage): IWidget[] {
  const title = (what: string) => `${what}, last ${DAYS} days`;
  const toEach = (toMetric: (id: OperationId) => IMetric) => operationIds.map(toMetric);
  return [
    toValues(
      title('Availability, %'),
      toEach((id) => toExpression(stage, id, '100 * (1 - FILL(failed, 0) / calls)', toTarget(id))),
    ),
    toValues(
      title('Error budget left, %'),
      toEach((id) => {
        const budget = 1 - operationSettings[id].availabilityPercent / 100;
        return toExpression(
          stage,
          id,
          `100 * (1 - FILL(failed, 0) / calls / ${budget.toFixed(6)})`,
          '',
        );
      }),
    ),
    toValues(
      title('Slowest hundredth, milliseconds'),
      toEach((id) => toLatency(stage, id)),
    ),
  ];
}

function toTarget(id: OperationId): string {
  return ` (at least ${operationSettings[id].availabilityPercent})`;
}

function toExpression(stage: Stage, id: OperationId, expression: string, target: string): IMetric {
  // Names are unique in a widget.
  const [failed, calls] = [`${id}Failed`, `${id}Calls`];
  return new MathExpression({
    label: `${id}${target}`,
    expression: expression.replace('failed', failed).replace('calls', calls),
    usingMetrics: {
      [failed]: toLogMetric(stage, id, 'serverErrors', sum),
      [calls]: toFunctionMetric(stage, id, 'Invocations', sum),
    },
    period: sum.period,
  });
}

function toLatency(stage: Stage, id: OperationId): IMetric {
  const { latencyMilliseconds } = operationSettings[id];
  const label = `${id} (below ${latencyMilliseconds})`;
  return toLatencyMetric(stage, id, { statistic: Stats.p(99), period: sum.period, label });
}

function toValues(title: string, metrics: IMetric[]): SingleValueWidget {
  return new SingleValueWidget({
    title,
    metrics,
    width,
    setPeriodToTimeRange: true,
    start: `-P${DAYS}D`,
    end: 'P0D',
  });
}
