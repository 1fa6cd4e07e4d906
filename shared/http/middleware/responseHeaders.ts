import { cacheControl, exposedHeaders } from '../../contract/headers.ts';
import { type Operation, toLifecycleHeaders } from '../../contract/operation.ts';
import type { Service } from '../../runtime/service.ts';
import {
  type HttpResponse,
  type OperationMiddleware,
  type OperationRequest,
  readHeader,
} from '../operationRequest.ts';

/**
 * Adds the headers of every response, errors included: the request id, how to cache it, and those of a deprecated
 * operation. Others let scripts of the allowed origins read the response
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). A script must set the key's header, so an origin alone grants
 * nothing.
 */
export function responseHeaders(
  { lifecycle }: Operation,
  { allowedOrigins, documentationAddress }: Omit<Service, 'client'>,
): OperationMiddleware {
  const lifecycleHeaders = toLifecycleHeaders(lifecycle, documentationAddress);
  const anyOrigin = allowedOrigins.includes('*');

  function addResponseHeaders(request: OperationRequest): void {
    const { headers } = request.response as HttpResponse;
    const sent = readHeader(request, 'origin');
    const origin = anyOrigin ? '*' : allowedOrigins.find((allowed) => allowed === sent);
    const added = {
      ...lifecycleHeaders,
      ...(!anyOrigin && { Vary: 'Origin' }),
      ...(origin !== undefined && {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposedHeaders.join(', '),
      }),
      'Cache-Control': cacheControl,
      'X-Request-Id': request.internal.requestId,
    };
    for (const [name, value] of Object.entries<string>(added)) {
      const before = lists.includes(name) && headers[name];
      headers[name] = before ? `${before}, ${value}` : value;
    }
  }

  return { after: addResponseHeaders, onError: addResponseHeaders };
}

/** Headers that the response may already have. */
const lists = ['Link', 'Vary'];
