import { Unauthorized } from '../contract/errors.ts';
import type { Operation } from '../contract/operation.ts';
import { logInfo } from '../runtime/logger.ts';
import type { OperationRequest } from './operationRequest.ts';

/** Logs one line per request, when its body is sent or a streamed body has ended. */
export function logAccess(
  { operationId }: Operation,
  request: OperationRequest,
  commit: string | undefined,
): void {
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
    ...(commit && { commit }),
    version: request.context.functionVersion,
    ...(refused && { refused: refused.reason }),
    ...(internal.isBroken && { broken: true }),
  });
}
