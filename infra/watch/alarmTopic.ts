import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { toStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/** Where alarms go, encrypted, and from there to the stage's `alarmAddress`. */
export function defineAlarmTopic(scope: Construct, stage: Stage): Topic {
  const { alarmAddress } = stage.settings;
  const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');
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
  const topic = new Topic(scope, 'Alarms', {
    displayName: `Alarms of ${toStackName(stage)}`,
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
  if (alarmAddress) topic.addSubscription(new EmailSubscription(alarmAddress));
  return topic;
}
