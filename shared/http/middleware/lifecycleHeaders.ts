import { type Lifecycle, toLifecycleHeaders } from '../../contract/operation.ts';
import {
  addHeaders,
  type OperationMiddleware,
  type OperationRequest,
} from '../operationRequest.ts';

/** Tells the callers of a deprecated operation so, on success and on error. */
export function lifecycleHeaders(
  lifecycle: Lifecycle,
  documentationAddress: string,
): OperationMiddleware {
  const headers = toLifecycleHeaders(lifecycle, documentationAddress);

  function addLifecycle(request: OperationRequest): void {
    addHeaders(request, headers);
  }

  return { after: addLifecycle, onError: addLifecycle };
}
