import type { APIGatewayProxyEvent } from 'aws-lambda';
import { apiVersion } from '../../../shared/contract/operation.ts';
import type { LambdaFunction } from '../lambdaFunction.ts';
import type { GatewayRequest } from './messages.ts';

/** The target of a path: its functions by method, and the decoded parameters. */
export interface Route {
  /** The contract's path, such as `/pets/{petId}`. */
  readonly path: string;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  readonly pathParameters: Record<string, string>;
}

export type FindRoute = (path: string) => Route | undefined;

/** @returns a search by paths relative to the base address; as on API Gateway, a slash at the end counts */
export function defineRoutes(functions: readonly LambdaFunction[]): FindRoute {
  const byPath = Map.groupBy(functions, ({ operation }) => operation.path);
  const routes = [...byPath].map(([path, group]) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
    functions: new Map(group.map((each) => [each.operation.method, each])),
  }));
  return function findRoute(searched) {
    for (const { path, pattern, functions } of routes) {
      const found = pattern.exec(searched);
      if (!found) continue;
      const parameters = Object.entries(found.groups ?? {});
      const decoded = parameters.map(([name, segment]) => [name, decodeParameter(segment)]);
      return { path, functions, pathParameters: Object.fromEntries(decoded) };
    }
    return undefined;
  };
}

/** Invalid percent-encoding stays as it is, and the function refuses it. */
export function decodeParameter(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * The event of a REST API's Lambda proxy integration, with the parts that functions use here:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function toProxyEvent(
  { requestId, method, path = '', query, headerLines, sourceIp }: GatewayRequest,
  resource: string,
  pathParameters: Route['pathParameters'],
  body: string | null,
): APIGatewayProxyEvent {
  const queryLines = [...query];
  const [, userAgent = null] =
    headerLines.findLast(([name]) => name.toLowerCase() === 'user-agent') ?? [];
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
      httpMethod: method,
      identity: { sourceIp, userAgent },
      path: `/${apiVersion}${path}`,
      requestId,
      resourcePath: resource,
      stage: apiVersion,
    } as APIGatewayProxyEvent['requestContext'],
    body,
    isBase64Encoded: false,
  };
}

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
