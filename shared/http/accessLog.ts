import { Unauthorized } from '../contract/errors.ts';
import type { InventoryAdjustment } from '../contract/inventoryAdjustment.ts';
import type { Operation } from '../contract/operation.ts';
import { logInfo } from '../runtime/logger.ts';
import type { OperationRequest } from './operationRequest.ts';

/** Logs one line per request, when its body is sent or a streamed body has ended. */
export function logAccess({ operationId, path }: Operation, request: OperationRequest): void {
  const { internal, response, error } = request;
  const refused = error instanceof Unauthorized ? error : undefined;
  logInfo({
    operation: operationId,
    requestId: internal.requestId,
    ...(internal.clientRequestId && { clientRequestId: internal.clientRequestId }),
    status: response?.statusCode,
    milliseconds: Date.now() - internal.startedAt,
    ...(internal.firstByteAt && {
      firstByteMilliseconds: internal.firstByteAt - internal.startedAt,
    }),
    readUnits: internal.units.read,
    ...(internal.keyReadUnits && { keyReadUnits: internal.keyReadUnits }),
    writeUnits: internal.units.write,
    ...(internal.units.failedWrites && { failedWrites: internal.units.failedWrites }),
    keyId: internal.key?.keyId ?? refused?.keyId,
    keyName: internal.key?.name,
    version: request.context.functionVersion,
    ...(refused && { refused: refused.reason }),
    ...(internal.isBroken && { broken: true }),
    ...(response?.statusCode === 503 && describeRequested(path, internal)),
  });
}

/** Which entries or pets may be asked for too often. A client's own path could be anything, such as a key. */
function describeRequested(path: string, { parameters, body }: OperationRequest['internal']) {
  const { adjustments } = (body ?? {}) as { adjustments?: InventoryAdjustment[] };
  // As text, since Logs Insights counts by one value.
  if (adjustments) return { petIds: adjustments.map(({ petId }) => petId).join(' ') };
  if (Object.keys(parameters).length === 0) return undefined;
  return { path: path.replace(/\{(\w+)\}/g, (_, name) => String(parameters[name])) };
}
