import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Construct } from 'constructs';
import { toStackName } from '../stages/resourceNames.ts';
import type { Severity } from '../stages/stageSettings.ts';
import type { Stage } from '../stages/stages.ts';
import type { AlarmTopics } from './alarmTopics.ts';

const labels: Record<Severity, string> = { page: 'Page', ticket: 'Ticket' };

/** One alarm of the watch stack. */
export interface WatchAlarm {
  /** In its name, after the stage's: `petstore-production-<name>`. */
  readonly name: string;
  readonly severity: Severity;
  /** What it means and where to look first, and what to do, for whoever is woken by it. */
  readonly description: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** By default, the alarm is raised at the threshold and above. */
  readonly comparison?: ComparisonOperator;
  /** What a period without a value means; by default no trouble, since there was no request. */
  readonly missing?: TreatMissingData;
  /** Of the last `of` periods, as many as must be at the threshold. */
  readonly periods: number;
  readonly of: number;
}

/** Sends each alarm to the topic of its severity, and its end too. */
export function defineAlarms(
  scope: Construct,
  stage: Stage,
  topics: AlarmTopics,
  alarms: readonly WatchAlarm[],
): Alarm[] {
  return alarms.map(({ name, severity, description, metric, threshold, periods, of, ...other }) => {
    const alarm = new Alarm(scope, name, {
      alarmName: `${toStackName(stage)}-${name}`,
      alarmDescription: `${labels[severity]}: ${description}`,
      metric,
      threshold,
      datapointsToAlarm: periods,
      evaluationPeriods: of,
      comparisonOperator: other.comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: other.missing ?? TreatMissingData.NOT_BREACHING,
    });
    const action = new SnsAction(topics[severity]);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  });
}
