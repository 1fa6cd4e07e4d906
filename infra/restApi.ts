import { EndpointType, MethodLoggingLevel, RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { defineAccessLog } from './accessLog.ts';
import { defineGatewayResponses } from './gatewayResponses.ts';
import type { OperationFunctions } from './operationFunctions.ts';
import { defineRoutes } from './routes.ts';
import type { StageSettings } from './stages.ts';

/** The gateway in front of the functions. Credentials are the functions' concern, not its. */
export function defineRestApi(
  scope: Construct,
  settings: StageSettings,
  functions: OperationFunctions,
): RestApi {
  const { throttle } = settings;
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
      throttlingRateLimit: throttle.rate,
      throttlingBurstLimit: throttle.burst,
    },
  });
  // Its slash at the end makes it a second, wrong, base address beside the output BaseUrl.
  api.node.tryRemoveChild('Endpoint');
  defineRoutes(api, settings, functions);
  defineGatewayResponses(api, settings);
  return api;
}
