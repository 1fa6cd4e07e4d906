import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { type Severity, type StageSettings, severities } from '../stages/stageSettings.ts';

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
  /** Of the last `of` periods, as many as must be at the threshold; by default the last one. */
  readonly periods?: number;
  readonly of?: number;
}

/**
 * Sends each alarm to the topic of its severity, and its end too.
 * @param targets where each severity's topic is, or whom it tells
 */
export function defineAlarms(
  scope: Construct,
  stackName: string,
  alarms: readonly WatchAlarm[],
  targets: StageSettings['alarms'] = {},
): Alarm[] {
  const topics = defineAlarmTopics(scope, stackName, targets);
  return alarms.map(({ name, severity, description, metric, threshold, ...other }) => {
    const { periods = 1, of = 1 } = other;
    const alarm = new Alarm(scope, name, {
      alarmName: `${stackName}-${name}`,
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

const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');

/** The stage's own topics, encrypted, or those that its settings name; their ARNs are outputs. */
function defineAlarmTopics(
  scope: Construct,
  stackName: string,
  targets: NonNullable<StageSettings['alarms']>,
): Readonly<Record<Severity, ITopic>> {
  // The key that SNS brings along cannot be used by CloudWatch, whose alarms would get lost.
  const key = new Key(scope, 'AlarmKey', {
    description: `Encrypts the alarms of ${stackName}`,
    enableKeyRotation: true,
    // The longest that there is: the first two changes cost $1 a month more each (https://aws.amazon.com/kms/pricing/).
    rotationPeriod: Duration.days(2_560),
    removalPolicy: RemovalPolicy.DESTROY,
  });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [cloudWatch],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      resources: ['*'],
    }),
  );
  const topics = severities.map((severity) => {
    const topic = defineTopic(scope, stackName, severity, targets[severity], key);
    const description = `Where alarms of the severity ${severity} go`;
    new CfnOutput(scope, `${labels[severity]}TopicArn`, { description, value: topic.topicArn });
    return [severity, topic];
  });
  return Object.fromEntries(topics) as Record<Severity, ITopic>;
}

function defineTopic(
  scope: Construct,
  stackName: string,
  severity: Severity,
  target: string | undefined,
  key: Key,
): ITopic {
  if (target?.startsWith('arn:')) {
    return Topic.fromTopicArn(scope, `${labels[severity]}Alarms`, target);
  }
  const topic = new Topic(scope, `${labels[severity]}Alarms`, {
    displayName: `${labels[severity]}s of ${stackName}`,
    masterKey: key,
    enforceSSL: true,
  });
  // A policy of one's own replaces the one that lets all of the account publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [cloudWatch],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  if (target) topic.addSubscription(new EmailSubscription(target));
  return topic;
}

/** In alarms' descriptions and in ids. */
const labels: Record<Severity, string> = { page: 'Page', ticket: 'Ticket' };
