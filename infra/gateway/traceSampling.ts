import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import type { Construct } from 'constructs';
import { apiVersion } from '../../shared/contract/operation.ts';
import { toApiName } from '../stages/resourceNames.ts';
import { type Stage, stageNames } from '../stages/stages.ts';

/**
 * Which of the stage's requests are traced. The gateway decides, and the functions follow it; without a rule
 * of ours, X-Ray's own would trace one a second and 5 % of the others, which at low traffic is all of them.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-configuring-xray-sampling-rules.html
 */
export function defineTraceSampling(scope: Construct, stage: Stage): void {
  const { reservedPerSecond, percent } = stage.settings.tracing;
  new CfnSamplingRule(scope, 'TraceSampling', {
    samplingRule: {
      ruleName: toApiName(stage),
      // X-Ray takes the first rule that matches, by the priority; its own comes last, at 10,000.
      priority: FIRST_PRIORITY + stageNames.indexOf(stage.name),
      serviceName: `${toApiName(stage)}/${apiVersion}`,
      serviceType: 'AWS::ApiGateway::Stage',
      reservoirSize: reservedPerSecond,
      fixedRate: percent / 100,
      host: '*',
      httpMethod: '*',
      resourceArn: '*',
      urlPath: '*',
      version: 1,
    },
  });
}

const FIRST_PRIORITY = 1_000;
