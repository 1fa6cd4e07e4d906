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
  /** The alarm is raised at this value and above; where it is one of `silence`, below it, or without any. */
  readonly threshold: number;
  readonly silence?: true;
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
  return alarms.map(({ name, severity, description, metric, threshold, silence, periods, of }) => {
    const alarm = new Alarm(scope, name, {
      alarmName: `${toStackName(stage)}-${name}`,
      alarmDescription: `${labels[severity]}: ${description}`,
      metric,
      threshold,
      datapointsToAlarm: periods,
      evaluationPeriods: of,
      ...(silence
        ? {
            comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
            treatMissingData: TreatMissingData.BREACHING,
          }
        : // No request is no trouble.
          { treatMissingData: TreatMissingData.NOT_BREACHING }),
    });
    const action = new SnsAction(topics[severity]);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  });
}
