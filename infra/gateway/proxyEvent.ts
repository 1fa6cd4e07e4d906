import type { APIGatewayProxyEvent } from 'aws-lambda';
import { apiVersion } from '../../shared/contract/operation.ts';
import { matchPath } from '../../shared/contract/paths.ts';

/** A request, as the gateway forwards it. */
export interface ProxyRequest {
  readonly requestId: string;
  readonly method: string;
  /** Relative to the base URL, with all slashes; empty outside the stage. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** In the client's case and order. */
  readonly headerLines: readonly (readonly [name: string, value: string])[];
  readonly sourceIp: string;
}

/**
 * The event of a REST API's Lambda proxy integration, with the parts that functions use here:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 * @param resource the contract's path, such as `/pets/{petId}`
 */
export function toProxyEvent(
  { requestId, method, path, query, headerLines, sourceIp }: ProxyRequest,
  resource: string,
  body: string | null,
): APIGatewayProxyEvent {
  const queryLines = [...query];
  const parameterLines = Object.entries(matchPath(resource, path) ?? {});
  const [, userAgent = null] =
    headerLines.findLast(([name]) => name.toLowerCase() === 'user-agent') ?? [];
  return {
    resource,
    // AWS makes one slash of several after the stage, and leaves all others:
    // https://github.com/localstack/localstack/pull/11304
    path: path.replace(/^\/+/, '/'),
    httpMethod: method,
    headers: toLastValues(headerLines) ?? {},
    multiValueHeaders: toAllValues(headerLines) ?? {},
    queryStringParameters: toLastValues(queryLines),
    multiValueQueryStringParameters: toAllValues(queryLines),
    pathParameters: toLastValues(
      parameterLines.map(([name, segment]) => [name, decodeParameter(segment)]),
    ),
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

/** Invalid percent-encoding stays as it is, and the function refuses it. */
export function decodeParameter(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
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
