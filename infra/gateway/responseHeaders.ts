import {
  allowedRequestHeaders,
  exposedHeaders,
  preflightMaxAgeSeconds,
} from '../../shared/contract/headers.ts';
import type { StageSettings } from '../stages/stageSettings.ts';
import type { GatewayError } from './gatewayErrors.ts';

/**
 * Header values as the gateway's mapping expressions: a variable of the request's context, or a text in
 * single quotes.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-parameter-mapping-sources.html
 */
export type MappedHeaders = Record<string, string>;

type Origins = StageSettings['allowedOrigins'];

/** The headers of an error that the gateway answers by itself. */
export function toErrorHeaders({ headers = {} }: GatewayError, origins: Origins): MappedHeaders {
  return {
    'X-Request-Id': 'context.requestId',
    // A gateway response cannot look a request's origin up in a list. With several, any may read it:
    // such an error holds a fixed sentence and nothing of the store's.
    ...toFixed({
      'Access-Control-Allow-Origin': origins.length === 1 ? origins[0] : '*',
      'Access-Control-Expose-Headers': exposedHeaders.join(','),
      ...headers,
    }),
  };
}

/** The headers of a preflight's answer, but for Access-Control-Allow-Origin where that depends on the request. */
export function toPreflightHeaders(allow: string, origins: Origins): MappedHeaders {
  return {
    'X-Request-Id': 'context.requestId',
    ...toFixed({
      ...(origins.length === 1 && { 'Access-Control-Allow-Origin': origins[0] }),
      ...(origins.length > 1 && { Vary: 'Origin' }),
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers': allowedRequestHeaders.join(','),
      'Access-Control-Max-Age': String(preflightMaxAgeSeconds),
    }),
  };
}

function toFixed(headers: Readonly<Record<string, string>>): MappedHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, `'${text}'`]));
}
