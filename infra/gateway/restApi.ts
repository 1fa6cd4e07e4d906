import { Validations } from 'aws-cdk-lib';
import {
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { apiVersion } from '../../shared/contract/operation.ts';
import { operationIds, operations } from '../../shared/contract/operations.ts';
import type { LiveAliases } from '../service/gradualDeployment.ts';
import { toApiName } from '../stages/resourceNames.ts';
import type { Throttle } from '../stages/stageSettings.ts';
import type { Stage } from '../stages/stages.ts';
import { defineAccessLog } from './accessLog.ts';
import { defineGatewayResponses } from './gatewayResponses.ts';
import { defineRoutes } from './routes.ts';

/** TLS 1.3 or 1.2, and of the latter only what keeps past traffic secret when a key leaks. */
export const tls = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
} as const;

/**
 * The gateway in front of the functions. Credentials are the functions' concern, not its. A request's
 * body is bounded by the gateway, 10 MB, and before that by what a function can be handed, 6 MB.
 */
export function defineRestApi(scope: Construct, stage: Stage, aliases: LiveAliases): RestApi {
  const api = new RestApi(scope, 'Api', {
    restApiName: toApiName(stage),
    description: "The pet store's inventory service",
    endpointTypes: [EndpointType.REGIONAL],
    // A gateway writes access logs only in an account that has named a role for it. The setting is the
    // account's: both stacks make it, either role serves both, and it stays when a stack goes.
    cloudWatchRole: true,
    deployOptions: {
      stageName: apiVersion,
      tracingEnabled: true,
      ...defineAccessLog(scope, stage),
      // Execution logs would write the Authorization header out.
      loggingLevel: MethodLoggingLevel.OFF,
      ...toThrottle(stage.settings.throttles.other),
      methodOptions: toMethodThrottles(stage),
    },
  });
  // RestApi has no properties for these; the gateway's own default lets TLS 1.0 in.
  Object.assign(api.node.defaultChild as CfnRestApi, tls);
  // Its slash at the end makes it a second, wrong, base address beside the output BaseUrl.
  api.node.tryRemoveChild('Endpoint');
  defineRoutes(api, stage, aliases);
  defineGatewayResponses(api, stage);
  acknowledgeFindings(api, stage);
  return api;
}

/** By path and method. */
function toMethodThrottles({ settings }: Stage): Record<string, MethodDeploymentOptions> {
  return Object.fromEntries(
    operationIds.map((id) => {
      const { path, method } = operations[id];
      return [`${path}/${method}`, toThrottle(settings.throttles[id])];
    }),
  );
}

function toThrottle({ rate, burst }: Throttle) {
  return { throttlingRateLimit: rate, throttlingBurstLimit: burst };
}

function acknowledgeFindings(api: RestApi, { settings: { firewall } }: Stage): void {
  const byFunctions =
    'The functions check the key and answer 401 in the form that the contract asks for; an authorizer could not.';
  Validations.of(api).acknowledge(
    {
      id: 'AwsSolutions-APIG2',
      reason:
        'The functions check path, media type and body against the contract, in its order and with its codes.',
    },
    { id: 'AwsSolutions-APIG4', reason: byFunctions },
    { id: 'AwsSolutions-COG4', reason: byFunctions },
    {
      id: 'AwsSolutions-APIG6',
      reason:
        'Execution logs would write the Authorization header out; access logs and function logs have one line per request.',
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason:
        'The account-wide role that the gateway writes its access logs with, as AWS documents it.',
    },
  );
  if (!firewall) {
    Validations.of(api.deploymentStage).acknowledge({
      id: 'AwsSolutions-APIG3',
      reason:
        "The stage's settings leave the firewall out: it costs while idle, and keys and throttles bound abuse.",
    });
  }
}
