import { Duration } from 'aws-cdk-lib';
import {
  type IResource,
  LambdaIntegration,
  MockIntegration,
  PassthroughBehavior,
  ResponseTransferMode,
  ResponseType,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import {
  buildErrorHeaders,
  buildPreflightHeaders,
  fixedResponseTypes,
  type GatewayError,
  gatewayErrors,
  listAllowedMethods,
  methodNotAllowedError,
  toErrorText,
} from '../../gateway/gatewayErrors.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import { operationSettings } from '../../stages/stages.ts';
import type { LiveAliases } from './gradualDeployment.ts';

type Origins = StageSettings['allowedOrigins'];

/** Defines the contract's methods and paths, and preflight, 405 and 404 everywhere else. */
export function defineRoutes(api: RestApi, aliases: LiveAliases, allowedOrigins: Origins): void {
  for (const id of operationIds) {
    const resource = api.root.resourceForPath(operations[id].path);
    resource.addMethod(operations[id].method, buildIntegration(id, aliases));
  }
  for (const path of listPaths()) {
    const resource = api.root.resourceForPath(path);
    if (!operationIds.some((id) => operations[id].path === path)) {
      addErrorResponse(resource, gatewayErrors.MISSING_AUTHENTICATION_TOKEN, allowedOrigins);
    } else {
      const allow = listAllowedMethods(path);
      const headers = buildPreflightHeaders(allow, allowedOrigins);
      addFixedResponse(resource, 'OPTIONS', 204, headers, renderOriginTemplate(allowedOrigins));
      addErrorResponse(resource, methodNotAllowedError(allow), allowedOrigins);
    }
  }
}

/** Gives the gateway's own errors the status, body and headers of the contract. */
export function defineGatewayResponses(api: RestApi, allowedOrigins: Origins): void {
  for (const [type, error] of Object.entries<GatewayError>(gatewayErrors)) {
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(statusOfCode[error.code]),
      responseHeaders: mapHeaders(buildErrorHeaders(error, allowedOrigins)),
      templates: { 'application/json': toErrorText(error) },
    });
  }
}

/** Responds with the error to every method that the resource does not have. */
function addErrorResponse(resource: IResource, error: GatewayError, origins: Origins): void {
  const headers = buildErrorHeaders(error, origins);
  addFixedResponse(resource, 'ANY', statusOfCode[error.code], headers, toErrorText(error));
}

function buildIntegration(id: OperationId, aliases: LiveAliases): LambdaIntegration {
  return new LambdaIntegration(aliases[id] as IFunction, {
    // The console's test button would need its own permission on every function.
    allowTestInvoke: false,
    // A streamed response may take 15 minutes instead of 29 seconds. Wait as long as the function may run.
    ...(operations[id].streamed && {
      responseTransferMode: ResponseTransferMode.STREAM,
      timeout: Duration.seconds(operationSettings[id].timeoutSeconds),
    }),
  });
}

/**
 * The contract's paths, all their parent paths, and a path for all others. On a path without a method, the gateway
 * would take the Bearer token for an invalid AWS signature and complain about that.
 */
function listPaths(): Set<string> {
  const paths = new Set(['/', '/{unknownPath+}']);
  for (const id of operationIds) {
    const segments = operations[id].path.slice(1).split('/');
    segments.forEach((_, index) => {
      paths.add(`/${segments.slice(0, index + 1).join('/')}`);
    });
  }
  return paths;
}

function addFixedResponse(
  resource: IResource,
  method: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  template?: string,
): void {
  const statusCode = String(status);
  const mapped = Object.entries(mapHeaders(headers)).map(
    ([name, value]) => [`method.response.header.${name}`, value] as const,
  );
  const integration = new MockIntegration({
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(
      fixedResponseTypes.map((type) => [type, `{"statusCode":${statusCode}}`]),
    ),
    integrationResponses: [
      {
        statusCode,
        responseParameters: Object.fromEntries(mapped),
        ...(template && { responseTemplates: { 'application/json': template } }),
      },
    ],
  });
  const responseParameters = Object.fromEntries(mapped.map(([name]) => [name, true]));
  resource.addMethod(method, integration, {
    methodResponses: [{ statusCode, responseParameters }],
  });
}

/** If several origins are allowed, returns the request's own when it is one of them. */
function renderOriginTemplate(origins: Origins): string | undefined {
  if (origins.length === 1) return undefined;
  const isAllowed = origins.map((origin) => `$origin == "${origin}"`).join(' || ');
  return [
    '#set($origin = $input.params().header.get("Origin"))',
    '#if(!$origin)#set($origin = $input.params().header.get("origin"))#end',
    `#if(${isAllowed})#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)#end`,
  ].join('\n');
}

/**
 * The request id, and fixed values, as the gateway's mapping expressions: a variable of the request's context, and texts
 * in single quotes.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-parameter-mapping-sources.html
 */
function mapHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const fixed = Object.entries(headers).map(([name, text]) => [name, `'${text}'`]);
  return { 'X-Request-Id': 'context.requestId', ...Object.fromEntries(fixed) };
}
