import type { Lifecycle } from '../../contract/lifecycle.ts';
import {
  addHeaders,
  type OperationMiddleware,
  type OperationRequest,
} from '../operationRequest.ts';

/**
 * Tells the callers of a deprecated operation so, on success and on error: `Deprecation` (RFC 9745),
 * `Sunset` (RFC 8594) and a link to the page that says what to do.
 */
export function lifecycleHeaders(lifecycle: Lifecycle): OperationMiddleware {
  const headers = toLifecycleHeaders(lifecycle);

  function addLifecycle(request: OperationRequest): void {
    addHeaders(request, headers);
  }

  return { after: addLifecycle, onError: addLifecycle };
}

function toLifecycleHeaders(lifecycle: Lifecycle): Record<string, string> {
  if (lifecycle.kind !== 'deprecated') return {};
  return {
    Deprecation: `@${lifecycle.since.getTime() / 1000}`,
    Sunset: lifecycle.sunset.toUTCString(),
    Link: `<${lifecycle.documentation}>; rel="deprecation"`,
  };
}
