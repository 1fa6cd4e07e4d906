import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  type AlarmProps,
  AlarmRule,
  AlarmState,
  CompositeAlarm,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import {
  isTopic,
  type Severity,
  type StageSettings,
  severities,
} from '../../stages/stageSettings.ts';
import { type AlarmPart, buildLargestMetric, groupAlarmParts } from '../service/serviceMetrics.ts';

/**
 * Each is a composite alarm over the pages of its kind. What fires for hours, or need not be an outage, is of its own
 * kind, so that it hides no outage that begins meanwhile.
 */
const incidents = {
  outage: 'Requests fail now, or none arrive.',
  degraded: 'An operation has failed at few requests within four hours, or is slow.',
};
type Incident = keyof typeof incidents;

/** One alarm of the watch stack. By default, it fires at the threshold and above. */
export interface WatchAlarm
  extends Pick<AlarmProps, 'metric' | 'threshold' | 'comparisonOperator'> {
  /** Its full name is `petstore-production-<name>`. */
  readonly name: string;
  /** By default a ticket. A part of an incident sends nothing itself, so that its incident is one page. */
  readonly severity?: Severity | Incident;
  /** What it means, where to look first, and what to do. The person it wakes reads this. */
  readonly description: string;
  /** The value of a period in which the metric has none. By default 0, since there was no request. */
  readonly missing?: number;
  /** How many of how many last periods must be at the threshold; by default the last one. */
  readonly periods?: readonly [breaching: number, of: number];
}

/**
 * Alarms that would differ by operation or table alone, as one on the largest value of all. If that would take too many
 * metrics, there are several.
 */
export function defineSharedAlarms(
  { name, label, ...alarm }: Omit<WatchAlarm, 'metric'> & { readonly label: string },
  parts: readonly AlarmPart[],
  period = Duration.minutes(5),
): WatchAlarm[] {
  return groupAlarmParts(parts).map((group, index) => ({
    ...alarm,
    name: index === 0 ? name : `${name}-${index + 1}`,
    metric: buildLargestMetric(label, group, period),
  }));
}

/**
 * Sends each alarm and each incident, and its end, to the topic of its severity.
 * @param targets a topic or an e-mail address for each severity
 */
export function defineAlarms(
  scope: Construct,
  stackName: string,
  alarms: readonly WatchAlarm[],
  targets: StageSettings['alarms'] = {},
): AlarmBase[] {
  const topics = defineAlarmTopics(scope, stackName, targets);
  const notify = (alarm: AlarmBase, severity: Severity) => {
    const action = new SnsAction(topics[severity]);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  };
  const parts: Record<Incident, Alarm[]> = { outage: [], degraded: [] };
  const single = alarms.map(
    ({ name, severity = 'ticket', description, metric, missing, periods, ...props }) => {
      const [breaching, of] = periods ?? [1, 1];
      const label = labels[severity === 'ticket' ? 'ticket' : 'page'];
      const alarm = new Alarm(scope, name, {
        ...props,
        alarmName: `${stackName}-${name}`,
        alarmDescription: `${label}: ${description}`,
        metric: metric instanceof Metric ? fillMissing(metric, missing) : metric,
        datapointsToAlarm: breaching,
        evaluationPeriods: of,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
      if (severity === 'page' || severity === 'ticket') notify(alarm, severity);
      else parts[severity].push(alarm);
      return alarm;
    },
  );
  const composite = Object.entries(incidents).map(([name, means]) => {
    const own = parts[name as Incident];
    const alarm = new CompositeAlarm(scope, name, {
      compositeAlarmName: `${stackName}-${name}`,
      alarmDescription: `${labels.page}: ${means} The email names the alarm that began, of: ${own.map(({ node }) => node.id).join(', ')}. Look at \`npx petstore status\` for all that fire now, and for the rows of infra/RUNBOOK.md that apply.`,
      alarmRule: AlarmRule.anyOf(...own.map((one) => AlarmRule.fromAlarm(one, AlarmState.ALARM))),
    });
    notify(alarm, 'page');
    return alarm;
  });
  return [...composite, ...single];
}

/**
 * Where a value is missing, CloudWatch looks at older periods, and on DynamoDB's metrics keeps the state forever. So
 * each alarm is on an expression that always has a value.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
function fillMissing(metric: Metric, missing = 0): MathExpression {
  const { label = metric.metricName, period } = metric;
  const expression = `FILL(metric, ${missing})`;
  return new MathExpression({ label, expression, usingMetrics: { metric }, period });
}

/** The stage's own encrypted topics, or those in its settings. Their ARNs are outputs. */
function defineAlarmTopics(
  scope: Construct,
  stackName: string,
  targets: NonNullable<StageSettings['alarms']>,
): Readonly<Record<Severity, ITopic>> {
  // CloudWatch acts for this account alone.
  const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } };
  const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com', { conditions });
  const ownsTopic = severities.some((severity) => !isTopic(targets[severity]));
  const masterKey = ownsTopic ? defineAlarmKey(scope, stackName) : undefined;
  const defineTopic = (severity: Severity): ITopic => {
    const target = targets[severity];
    const id = `${labels[severity]}Alarms`;
    if (isTopic(target)) return Topic.fromTopicArn(scope, id, target);
    const topic = new Topic(scope, id, {
      displayName: `${labels[severity]}s of ${stackName}`,
      ...(masterKey && { masterKey }),
      enforceSSL: true,
    });
    // This replaces the default policy, which lets the whole account publish.
    topic.grantPublish(cloudWatch);
    if (target) topic.addSubscription(new EmailSubscription(target));
    return topic;
  };
  const topics = severities.map((severity) => {
    const topic = defineTopic(severity);
    const description = `The topic for alarms of the severity ${severity}`;
    new CfnOutput(scope, `${labels[severity]}TopicArn`, { description, value: topic.topicArn });
    return [severity, topic];
  });
  return Object.fromEntries(topics) as Record<Severity, ITopic>;
}

/** CloudWatch cannot use the default key of SNS, so alarms would be lost. */
function defineAlarmKey(scope: Construct, stackName: string): Key {
  return new Key(scope, 'AlarmKey', {
    description: `Encrypts the alarms of ${stackName}`,
    enableKeyRotation: true,
    // The longest period. Each of the first two rotations adds $1 a month (https://aws.amazon.com/kms/pricing/).
    rotationPeriod: Duration.days(2_560),
    removalPolicy: RemovalPolicy.DESTROY,
  });
}

/** Used in alarm descriptions and in ids. */
const labels: Record<Severity, string> = { page: 'Page', ticket: 'Ticket' };
