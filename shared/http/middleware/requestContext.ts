import { MAX_CLIENT_REQUEST_ID_LENGTH } from '../../contract/headers.ts';
import { type OperationMiddleware, type OperationRequest, toHeader } from '../operationRequest.ts';

/** A client's own request id, for the log. Any other text is ignored. */
const plainName = new RegExp(`^[A-Za-z0-9._-]{1,${MAX_CLIENT_REQUEST_ID_LENGTH}}$`);

/** Reads the event for the later steps. */
export function requestContext(): OperationMiddleware {
  function readContext(request: OperationRequest): void {
    const { event, context, internal } = request;
    internal.requestId =
      event.requestContext?.requestId ?? context.awsRequestId ?? crypto.randomUUID();
    // Set first, so that an unreadable event gets a response too.
    internal.headers = new Map();
    internal.headers = toHeaderLines(event.multiValueHeaders ?? {});
    internal.clientRequestId = toHeader(request, 'x-request-id')?.match(plainName)?.[0];
    internal.path = event.requestContext?.path ?? '';
    internal.parameters = {};
    internal.query = {};
  }

  return { before: readContext };
}

/**
 * Names are in the client's case, and a client may send one name in two cases.
 * @throws {TypeError} if a header is not a list of lines
 */
function toHeaderLines(
  headers: Record<string, string[] | undefined>,
): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>();
  for (const [name, values] of Object.entries(headers)) {
    const lowerCase = name.toLowerCase();
    if (!Array.isArray(values)) throw new TypeError('A header of the event is not a list.');
    lines.set(lowerCase, [...(lines.get(lowerCase) ?? []), ...values]);
  }
  return lines;
}
