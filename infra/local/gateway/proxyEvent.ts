import type { APIGatewayProxyEvent } from 'aws-lambda';
import { apiVersion } from '../../../shared/contract/operation.ts';
import type { GatewayRequest, Route } from './gatewayRequest.ts';

/**
 * The event of a REST API's Lambda proxy integration:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function toProxyEvent(
  { requestId, method, path = '', query, headerLines, sourceIp }: GatewayRequest,
  resource: string,
  pathParameters: Route['pathParameters'],
  body: string | null,
): APIGatewayProxyEvent {
  const queryLines = [...query];
  return {
    resource,
    path,
    httpMethod: method,
    headers: toLastValues(headerLines) ?? {},
    multiValueHeaders: toAllValues(headerLines) ?? {},
    queryStringParameters: toLastValues(queryLines),
    multiValueQueryStringParameters: toAllValues(queryLines),
    pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null,
    stageVariables: null,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer: null,
      httpMethod: method,
      identity: { ...anonymous, sourceIp, userAgent: findHeader(headerLines, 'user-agent') },
      path: `/${apiVersion}${path}`,
      protocol: 'HTTP/1.1',
      requestId,
      requestTimeEpoch: Date.now(),
      resourceId: resource,
      resourcePath: resource,
      stage: apiVersion,
    },
    body,
    isBase64Encoded: false,
  };
}

const anonymous = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  user: null,
  userArn: null,
};

type Lines = readonly (readonly [name: string, value: string])[];

function toLastValues(lines: Lines): Record<string, string> | null {
  return lines.length > 0 ? Object.fromEntries(lines) : null;
}

function toAllValues(lines: Lines): Record<string, string[]> | null {
  if (lines.length === 0) return null;
  const groups = Map.groupBy(lines, ([name]) => name);
  return Object.fromEntries(
    [...groups].map(([name, all]) => [name, all.map(([, value]) => value)]),
  );
}

function findHeader(lines: Lines, lowerCase: string): string | null {
  return lines.findLast(([name]) => name.toLowerCase() === lowerCase)?.[1] ?? null;
}
