import { Alarm, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { toStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/** One alarm of the watch stack. */
export interface WatchAlarm {
  /** In its name, after the stage's: `petstore-production-<name>`. */
  readonly name: string;
  /** What it means and where to look, for whoever is woken by it. */
  readonly description: string;
  readonly metric: IMetric;
  /** The alarm is raised at this value and above. */
  readonly threshold: number;
  /** Of the last `of` periods, as many as must be at the threshold. */
  readonly periods: number;
  readonly of: number;
}

/** Sends each alarm to the topic, and its end too. */
export function defineAlarms(
  scope: Construct,
  stage: Stage,
  topic: ITopic,
  alarms: readonly WatchAlarm[],
): Alarm[] {
  const action = new SnsAction(topic);
  return alarms.map(({ name, description, metric, threshold, periods, of }) => {
    const alarm = new Alarm(scope, name, {
      alarmName: `${toStackName(stage)}-${name}`,
      alarmDescription: description,
      metric,
      threshold,
      datapointsToAlarm: periods,
      evaluationPeriods: of,
      // No request is no trouble.
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  });
}
