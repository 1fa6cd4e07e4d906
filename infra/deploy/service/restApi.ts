import { CfnOutput, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  type CfnDomainName,
  type CfnRestApi,
  DomainName,
  EndpointAccessMode,
  EndpointType,
  IpAddressType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnSamplingRule } from 'aws-cdk-lib/aws-xray';
import type { Construct } from 'constructs';
import { apiVersion } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { toNames } from '../../stages/resourceNames.ts';
import type { StageSettings, Throttle } from '../../stages/stageSettings.ts';
import type { Stage } from '../../stages/stages.ts';
import { chooseRemovalPolicy } from './dataTables.ts';
import type { LiveAliases } from './gradualDeployment.ts';
import { defineGatewayResponses, defineRoutes } from './routes.ts';

/**
 * One line of JSON per request, also for requests that never reach a function. `requestId` is the response's
 * X-Request-Id. The log itself adds the time. Values are strings, since the gateway writes `-` for a missing value. The
 * gateway writes most variables as they came, so no text of a client is here, such as the path or the trace id. A quote
 * would break the line, which no metric would count, and an API key in it would stay.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
export const accessLogFormat = {
  requestId: '$context.requestId',
  sourceIp: '$context.identity.sourceIp',
  // It distinguishes the scheduled check. The gateway escapes its quotes and backslashes as JSON does, as others found:
  // https://github.com/DataBiosphere/azul/issues/4348
  userAgent: '$context.identity.userAgent',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  bytes: '$context.responseLength',
  latency: '$context.responseLatency',
  functionLatency: '$context.integration.latency',
  functionStatus: '$context.integration.integrationStatus',
  functionError: '$context.integration.error',
  // Lambda's id of the call. Lambda logs a crash or a timeout under it.
  functionRequestId: '$context.integration.requestId',
  gatewayError: '$context.error.responseType',
};

/** TLS 1.3, or 1.2 with forward secrecy. */
const tls = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
} as const;

/** The gateway's default is IPv4 alone. */
const ipAddressType = IpAddressType.DUAL_STACK;

/**
 * The gateway in front of the functions. It checks no credentials; the functions do. It accepts bodies up to 10 MB, but
 * a function accepts only 6 MB.
 */
export function defineRestApi(scope: Construct, stage: Stage, aliases: LiveAliases): RestApi {
  const { allowedOrigins, throttles, logRetentionDays } = stage.settings;
  const names = toNames(stage);
  const accessLog = new LogGroup(scope, 'AccessLogs', {
    logGroupName: names.accessLog,
    retention: logRetentionDays,
    removalPolicy: chooseRemovalPolicy(stage),
  });
  const api = new RestApi(scope, 'Api', {
    restApiName: names.api,
    description: "The pet store's inventory service",
    endpointConfiguration: { types: [EndpointType.REGIONAL], ipAddressType },
    // The gateway writes access logs only if the account names a role for it. The setting belongs to the account: both
    // stages' stacks make it, either role serves both, and it stays when a stack is deleted.
    cloudWatchRole: true,
    deployOptions: {
      stageName: apiVersion,
      tracingEnabled: true,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFormat)),
      // Execution logs would contain the Authorization header.
      loggingLevel: MethodLoggingLevel.OFF,
      ...toThrottle(throttles.other),
      methodOptions: Object.fromEntries(
        operationIds.map((id) => {
          const { path, method } = operations[id];
          return [`${path}/${method}`, toThrottle(throttles[id])];
        }),
      ),
    },
  });
  // RestApi has no properties for these. The gateway's default allows TLS 1.0.
  Object.assign(api.node.defaultChild as CfnRestApi, tls);
  // This output ends in a slash, so it would be a second, wrong base URL beside BaseUrl.
  api.node.tryRemoveChild('Endpoint');
  defineRoutes(api, aliases, allowedOrigins);
  defineGatewayResponses(api, allowedOrigins);
  acknowledgeFindings(api);
  return api;
}

/** Also serves the gateway at `https://<name>/v1`, under your own domain name. The gateway's own address stays. */
export function defineCustomDomain(
  scope: Construct,
  api: RestApi,
  { name, certificateArn }: NonNullable<StageSettings['customDomain']>,
): void {
  const domain = new DomainName(scope, 'Domain', {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    ...tls,
  });
  // DomainName has no property for it.
  const resource = domain.node.defaultChild as CfnDomainName;
  resource.addPropertyOverride('EndpointConfiguration.IpAddressType', ipAddressType);
  domain.addBasePathMapping(api, { basePath: apiVersion });
  new CfnOutput(scope, 'DomainTarget', {
    description: `The target of the DNS record of ${name}: a CNAME, or in Route 53 an A and an AAAA alias`,
    value: domain.domainNameAliasDomainName,
  });
}

/**
 * Defines which requests of the stage are traced. The gateway decides, and the functions follow it. X-Ray's default
 * rule would trace one request a second and 5 % of the others: at low traffic, all of them.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-configuring-xray-sampling-rules.html
 */
export function defineTraceSampling(scope: Construct, stage: Stage, index: number): void {
  const apiName = toNames(stage).api;
  const { reservedPerSecond, percent } = stage.settings.tracing;
  new CfnSamplingRule(scope, 'TraceSampling', {
    samplingRule: {
      ruleName: apiName,
      // X-Ray uses the matching rule with the lowest priority number. Its default has 10,000.
      priority: FIRST_PRIORITY + index,
      serviceName: `${apiName}/${apiVersion}`,
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

function toThrottle({ rate, burst }: Throttle) {
  return { throttlingRateLimit: rate, throttlingBurstLimit: burst };
}

function acknowledgeFindings(api: RestApi): void {
  const byFunctions =
    'The functions check the key and respond with 401 in the form of the contract; an authorizer could not.';
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
        'Execution logs would contain the Authorization header; access logs and function logs have one line per request.',
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason: 'The account-wide role for the gateway to write access logs, as AWS documents it.',
    },
  );
}
