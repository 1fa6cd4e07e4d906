import { type IResource, MockIntegration, PassthroughBehavior } from 'aws-cdk-lib/aws-apigateway';
import { statusOfCode, toErrorBody } from '../../shared/contract/errorBody.ts';
import type { StageSettings } from '../stages/stageSettings.ts';
import { fixedAnswerTypes, type GatewayError, toAllow } from './gatewayErrors.ts';
import { type MappedHeaders, toErrorHeaders, toPreflightHeaders } from './responseHeaders.ts';

type Origins = StageSettings['allowedOrigins'];

/** Answers every method that the resource does not have with the error. */
export function addErrorAnswer(resource: IResource, error: GatewayError, origins: Origins): void {
  const body = JSON.stringify(toErrorBody(error.code, error.message));
  addFixedAnswer(resource, 'ANY', statusOfCode[error.code], toErrorHeaders(error, origins), body);
}

/** Answers a browser that asks whether a page may call the resource; that takes no API key. */
export function addPreflightAnswer(
  resource: IResource,
  methods: readonly string[],
  origins: Origins,
): void {
  const headers = toPreflightHeaders(toAllow(methods), origins);
  addFixedAnswer(resource, 'OPTIONS', 204, headers, toOriginTemplate(origins));
}

function addFixedAnswer(
  resource: IResource,
  method: string,
  status: number,
  headers: MappedHeaders,
  template?: string,
): void {
  const statusCode = String(status);
  const integrationResponses = [
    {
      statusCode,
      responseParameters: mapHeaders(headers, (value) => value),
      ...(template && { responseTemplates: { 'application/json': template } }),
    },
  ];
  const integration = new MockIntegration({
    passthroughBehavior: PassthroughBehavior.NEVER,
    requestTemplates: Object.fromEntries(
      fixedAnswerTypes.map((type) => [type, `{"statusCode":${statusCode}}`]),
    ),
    integrationResponses,
  });
  resource.addMethod(method, integration, {
    methodResponses: [{ statusCode, responseParameters: mapHeaders(headers, () => true) }],
  });
}

/** Where several origins are allowed, names the request's own if it is one of them. */
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
