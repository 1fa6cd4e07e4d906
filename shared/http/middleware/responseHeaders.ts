import { exposedHeaders } from '../../contract/headers.ts';
import { type Operation, toLifecycleHeaders } from '../../contract/operation.ts';
import type { Service } from '../../runtime/service.ts';
import {
  addHeaders,
  type OperationMiddleware,
  type OperationRequest,
  toHeader,
} from '../operationRequest.ts';

/**
 * Adds the headers of every response, errors included: the request id, those of a deprecated operation, and those that
 * let scripts of the allowed origins read the response (https://fetch.spec.whatwg.org/#http-cors-protocol). A script
 * must set the key's header, so an origin alone grants nothing.
 */
export function responseHeaders(
  { lifecycle }: Operation,
  {
    allowedOrigins,
    documentationAddress,
  }: Pick<Service, 'allowedOrigins' | 'documentationAddress'>,
): OperationMiddleware {
  const lifecycleHeaders = toLifecycleHeaders(lifecycle, documentationAddress);
  const anyOrigin = allowedOrigins.includes('*');

  function addResponseHeaders(request: OperationRequest): void {
    const origin = anyOrigin ? '*' : (toHeader(request, 'origin') ?? '');
    addHeaders(request, {
      ...lifecycleHeaders,
      ...(!anyOrigin && { Vary: 'Origin' }),
      ...(allowedOrigins.includes(origin) && {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposedHeaders.join(', '),
      }),
      'X-Request-Id': request.internal.requestId,
    });
  }

  return { after: addResponseHeaders, onError: addResponseHeaders };
}
