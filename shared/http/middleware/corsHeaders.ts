import { exposedHeaders } from '../../contract/headers.ts';
import {
  addHeaders,
  type OperationMiddleware,
  type OperationRequest,
  toHeader,
} from '../operationRequest.ts';

/**
 * Lets scripts of the allowed origins read the response (https://fetch.spec.whatwg.org/#http-cors-protocol).
 * @param allowedOrigins such as `https://www.example.com`, or only `*` for any. A script must set the key's header, so
 * an origin alone grants nothing
 */
export function corsHeaders(allowedOrigins: readonly string[]): OperationMiddleware {
  const anyOrigin = allowedOrigins.includes('*');

  function addCors(request: OperationRequest): void {
    if (!anyOrigin) addHeaders(request, { Vary: 'Origin' });
    const origin = toHeader(request, 'origin');
    if (!anyOrigin && (origin === undefined || !allowedOrigins.includes(origin))) return;
    addHeaders(request, {
      'Access-Control-Allow-Origin': anyOrigin ? '*' : (origin as string),
      'Access-Control-Expose-Headers': exposedHeaders.join(', '),
    });
  }

  return { after: addCors, onError: addCors };
}
