import {
  EndpointType,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { type OperationId, operations } from '../shared/contract/operations.ts';
import { defineAccessLog } from './accessLog.ts';
import { defineGatewayResponses } from './gatewayResponses.ts';
import type { OperationFunctions } from './operationFunctions.ts';
import { defineRoutes } from './routes.ts';
import type { StageSettings, Throttle } from './stages.ts';

/** The gateway in front of the functions. Credentials are the functions' concern, not its. */
export function defineRestApi(
  scope: Construct,
  settings: StageSettings,
  functions: OperationFunctions,
): RestApi {
  const api = new RestApi(scope, 'Api', {
    description: "The pet store's inventory service",
    endpointTypes: [EndpointType.REGIONAL],
    // A gateway writes access logs only in an account that has named a role for it. The setting is the
    // account's: both stacks make it, either role serves both, and it stays when a stack goes.
    cloudWatchRole: true,
    deployOptions: {
      stageName: 'v1',
      tracingEnabled: true,
      ...defineAccessLog(scope, settings),
      // Execution logs would write the Authorization header out.
      loggingLevel: MethodLoggingLevel.OFF,
      ...toThrottle(settings.throttles.other),
      methodOptions: toMethodThrottles(settings),
    },
  });
  // Its slash at the end makes it a second, wrong, base address beside the output BaseUrl.
  api.node.tryRemoveChild('Endpoint');
  defineRoutes(api, settings, functions);
  defineGatewayResponses(api, settings);
  return api;
}

/** By path and method. */
function toMethodThrottles({ throttles }: StageSettings): Record<string, MethodDeploymentOptions> {
  return Object.fromEntries(
    Object.entries(operations).map(([id, { path, method }]) => [
      `${path}/${method}`,
      toThrottle(throttles[id as OperationId]),
    ]),
  );
}

function toThrottle({ rate, burst }: Throttle) {
  return { throttlingRateLimit: rate, throttlingBurstLimit: burst };
}
