import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { toStackName } from '../stages/resourceNames.ts';
import { type Severity, severities } from '../stages/stageSettings.ts';
import type { Stage } from '../stages/stages.ts';

/** Where the alarms of each severity go. */
export type AlarmTopics = Readonly<Record<Severity, ITopic>>;

const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');

/** The stage's own topics, encrypted, or those that its settings name; their ARNs are outputs. */
export function defineAlarmTopics(scope: Construct, stage: Stage): AlarmTopics {
  // The key that SNS brings along cannot be used by CloudWatch, whose alarms would get lost.
  const key = new Key(scope, 'AlarmKey', {
    description: `Encrypts the alarms of ${toStackName(stage)}`,
    enableKeyRotation: true,
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
    const topic = defineTopic(scope, stage, severity, key);
    new CfnOutput(scope, `${toId(severity)}TopicArn`, {
      description: `Where alarms of the severity ${severity} go`,
      value: topic.topicArn,
    });
    return [severity, topic];
  });
  return Object.fromEntries(topics) as AlarmTopics;
}

function defineTopic(scope: Construct, stage: Stage, severity: Severity, key: Key): ITopic {
  const target = stage.settings.alarms?.[severity];
  if (target?.startsWith('arn:')) {
    return Topic.fromTopicArn(scope, `${toId(severity)}Alarms`, target);
  }
  const topic = new Topic(scope, `${toId(severity)}Alarms`, {
    displayName: `${toId(severity)}s of ${toStackName(stage)}`,
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

function toId(severity: Severity): string {
  return severity === 'page' ? 'Page' : 'Ticket';
}
