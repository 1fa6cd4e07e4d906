import { type Lifecycle, toLifecycleHeaders } from '../../contract/operation.ts';
import {
  addHeaders,
  type OperationMiddleware,
  type OperationRequest,
} from '../operationRequest.ts';

/** Adds the headers of a deprecated operation, on success and on error. */
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
