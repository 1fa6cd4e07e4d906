import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { toFunctionMetric } from '../metrics/functionMetrics.ts';
import { toCheckName, toStackName } from '../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../stages/stages.ts';
import { type End, toDaysMetricName } from './check/daysLeft.ts';
import { toDeprecatedOperations } from './logQueries.ts';
import type { WatchAlarm } from './watchAlarm.ts';

/** What the scheduled check finds out: that the service cannot be reached, and what will end. */
export function defineCheckAlarms(stage: Stage, everyMinutes: number): WatchAlarm[] {
  return [
    {
      name: 'check-failed',
      severity: 'page',
      description: `The scheduled check did not get a list of ${stage.settings.baseAddress} from outside, or did not run. Look in the log of the function ${toCheckName(stage)} for what came: the name, its certificate, the gateway, the check's own key or a table; if its key is missing or ended, give it one, as the runbook says.`,
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensionsMap: { FunctionName: toCheckName(stage) },
        statistic: Stats.SUM,
        period: Duration.minutes(everyMinutes),
      }),
      threshold: 1,
      missing: TreatMissingData.BREACHING,
      periods: 2,
      of: 2,
    },
    ...defineEndAlarms(
      stage,
      'certificate',
      'The certificate of the base address',
      `Look at it in ACM: it renews by itself where its DNS record is still there; else import a new one and name it in ${stagesFile}.`,
    ),
    ...defineEndAlarms(
      stage,
      'key',
      'The first API key that nobody has replaced',
      'Look at `npm run keys -- list` for which; rotate it, and tell its owner.',
    ),
    ...(toDeprecatedOperations().length > 0 ? [defineSunsetAlarm(stage)] : []),
  ];
}

function defineEndAlarms(stage: Stage, end: End, what: string, act: string): WatchAlarm[] {
  const days = [
    ['ticket', 30],
    ['page', 7],
  ] as const;
  return days.map(([severity, left]) => ({
    name: `${end}-ends-in-${left}-days`,
    severity,
    description: `${what} ends within ${left} days. ${act}`,
    metric: toDaysMetric(stage, end),
    comparison: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: left,
    periods: 1,
    of: 1,
  }));
}

function defineSunsetAlarm(stage: Stage): WatchAlarm {
  const ids = toDeprecatedOperations();
  const calls = Object.fromEntries(
    ids.map((id) => [
      id,
      toFunctionMetric(stage, id, 'Invocations', { statistic: Stats.SUM, period: day }),
    ]),
  );
  return {
    name: 'sunset-has-callers',
    severity: 'ticket',
    description: `A deprecated operation (${ids.join(', ')}) may go within 30 days, and is called still. Look at the saved query "Callers of deprecated operations", and write to them.`,
    metric: new MathExpression({
      label: 'calls',
      expression: `IF(days <= 30, ${ids.map((id) => `FILL(${id}, 0)`).join(' + ')}, 0)`,
      usingMetrics: { ...calls, days: toDaysMetric(stage, 'sunset').with({ period: day }) },
      period: day,
    }),
    threshold: 1,
    periods: 1,
    of: 1,
  };
}

const day = Duration.days(1);

function toDaysMetric(stage: Stage, end: End): Metric {
  return new Metric({
    namespace: toStackName(stage),
    metricName: toDaysMetricName(end),
    statistic: Stats.MINIMUM,
    period: Duration.hours(1),
  });
}
