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
import { statusOfCode, toErrorBody } from '../../shared/contract/errorBody.ts';
import {
  allowedRequestHeaders,
  exposedHeaders,
  preflightMaxAgeSeconds,
} from '../../shared/contract/headers.ts';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import {
  fixedResponseTypes,
  type GatewayError,
  gatewayErrors,
  toAllow,
  toMethodNotAllowedError,
} from '../gateway/gatewayErrors.ts';
import type { StageSettings } from '../stages/stageSettings.ts';
import { operationSettings } from '../stages/stages.ts';
import type { LiveAliases } from './gradualDeployment.ts';

type Origins = StageSettings['allowedOrigins'];

/** Defines the contract's methods and paths, and preflight, 405 and 404 everywhere else. */
export function defineRoutes(api: RestApi, aliases: LiveAliases, allowedOrigins: Origins): void {
  for (const id of operationIds) {
    const resource = api.root.resourceForPath(operations[id].path);
    resource.addMethod(operations[id].method, toIntegration(id, aliases));
  }
  for (const path of toPaths()) {
    const resource = api.root.resourceForPath(path);
    const methods = toMethods(path);
    if (methods.length === 0) {
      addErrorResponse(resource, gatewayErrors.MISSING_AUTHENTICATION_TOKEN, allowedOrigins);
    } else {
      addPreflightResponse(resource, methods, allowedOrigins);
      addErrorResponse(resource, toMethodNotAllowedError(toAllow(methods)), allowedOrigins);
    }
  }
}

/** Gives the gateway's own errors the status, body and headers of the contract. */
export function defineGatewayResponses(api: RestApi, allowedOrigins: Origins): void {
  for (const [type, error] of Object.entries<GatewayError>(gatewayErrors)) {
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(statusOfCode[error.code]),
      responseHeaders: toErrorHeaders(error, allowedOrigins),
      templates: { 'application/json': JSON.stringify(toErrorBody(error.code, error.message)) },
    });
  }
}

/** Responds with the error to every method that the resource does not have. */
function addErrorResponse(resource: IResource, error: GatewayError, origins: Origins): void {
  const body = JSON.stringify(toErrorBody(error.code, error.message));
  addFixedResponse(resource, 'ANY', statusOfCode[error.code], toErrorHeaders(error, origins), body);
}

/** Responds to a browser's preflight request, which needs no API key. */
function addPreflightResponse(
  resource: IResource,
  methods: readonly string[],
  origins: Origins,
): void {
  const headers = {
    'X-Request-Id': 'context.requestId',
    ...toFixed({
      // With several, the template sets it by the request.
      ...(origins.length === 1 && { 'Access-Control-Allow-Origin': origins[0] }),
      ...(origins.length > 1 && { Vary: 'Origin' }),
      'Access-Control-Allow-Methods': toAllow(methods),
      'Access-Control-Allow-Headers': allowedRequestHeaders.join(','),
      'Access-Control-Max-Age': String(preflightMaxAgeSeconds),
    }),
  };
  addFixedResponse(resource, 'OPTIONS', 204, headers, toOriginTemplate(origins));
}

function toIntegration(id: OperationId, aliases: LiveAliases): LambdaIntegration {
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
function toPaths(): Set<string> {
  const paths = new Set(['/', '/{unknownPath+}']);
  for (const id of operationIds) {
    const segments = operations[id].path.slice(1).split('/');
    segments.forEach((_, index) => {
      paths.add(`/${segments.slice(0, index + 1).join('/')}`);
    });
  }
  return paths;
}

function toMethods(path: string): string[] {
  return operationIds
    .filter((id) => operations[id].path === path)
    .map((id) => operations[id].method);
}

function addFixedResponse(
  resource: IResource,
  method: string,
  status: number,
  headers: MappedHeaders,
  template?: string,
): void {
  const statusCode = String(status);
  const integration = new MockIntegration({
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(
      fixedResponseTypes.map((type) => [type, `{"statusCode":${statusCode}}`]),
    ),
    integrationResponses: [
      {
        statusCode,
        responseParameters: mapHeaders(headers, (value) => value),
        ...(template && { responseTemplates: { 'application/json': template } }),
      },
    ],
  });
  resource.addMethod(method, integration, {
    methodResponses: [{ statusCode, responseParameters: mapHeaders(headers, () => true) }],
  });
}

/** If several origins are allowed, returns the request's own when it is one of them. */
function toOriginTemplate(origins: Origins): string | undefined {
  if (origins.length === 1) return undefined;
  const isAllowed = origins.map((origin) => `$origin == "${origin}"`).join(' || ');
  return [
    '#set($origin = $input.params().header.get("Origin"))',
    '#if(!$origin)#set($origin = $input.params().header.get("origin"))#end',
    `#if(${isAllowed})#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)#end`,
  ].join('\n');
}

function mapHeaders<Mapped>(
  headers: MappedHeaders,
  map: (value: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, map(value)]),
  );
}

/**
 * Header values as the gateway's mapping expressions: a variable of the request's context, or a text in single quotes.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-parameter-mapping-sources.html
 */
type MappedHeaders = Record<string, string>;

/** The headers of the gateway's own errors. */
function toErrorHeaders({ headers = {} }: GatewayError, origins: Origins): MappedHeaders {
  return {
    'X-Request-Id': 'context.requestId',
    // A gateway response cannot look up the request's origin in a list. With several origins, pages of any origin may
    // read it. That is safe: it has only a fixed sentence and none of the store's data.
    ...toFixed({
      'Access-Control-Allow-Origin': origins.length === 1 ? origins[0] : '*',
      'Access-Control-Expose-Headers': exposedHeaders.join(','),
      ...headers,
    }),
  };
}

function toFixed(headers: Readonly<Record<string, string>>): MappedHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, `'${text}'`]));
}
