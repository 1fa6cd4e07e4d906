import { MAX_CLIENT_REQUEST_ID_LENGTH } from '../../contract/headers.ts';
import type { OperationMiddleware, OperationRequest } from '../operationRequest.ts';

/** Reads the event for the later steps. */
export function requestContext(): OperationMiddleware {
  function readContext({ event, context, internal }: OperationRequest): void {
    internal.requestId =
      event.requestContext?.requestId ?? context.awsRequestId ?? crypto.randomUUID();
    // Set first, so that an unreadable event gets a response too.
    internal.headers = new Map();
    internal.headers = toHeaderLines(event.multiValueHeaders ?? {});
    internal.clientRequestId = toClientRequestId(internal.headers.get('x-request-id'));
    internal.path = event.requestContext?.path ?? '';
    internal.parameters = {};
    internal.query = {};
  }

  return { before: readContext };
}

/** The client's own request id, for the log. Anything but a plain name is ignored. */
function toClientRequestId(lines: readonly string[] = []): string | undefined {
  const [line = ''] = lines;
  const isName = /^[A-Za-z0-9._-]+$/.test(line) && line.length <= MAX_CLIENT_REQUEST_ID_LENGTH;
  return lines.length === 1 && isName ? line : undefined;
}

/**
 * Names are in the client's case, and a client may send one name in two cases.
 * @throws {TypeError} if a header is not a list of lines
 */
function toHeaderLines(
  headers: Record<string, string[] | undefined>,
): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>();
  for (const [name, values = []] of Object.entries(headers)) {
    const lowerCase = name.toLowerCase();
    if (!Array.isArray(values)) throw new TypeError('A header of the event is not a list.');
    lines.set(lowerCase, [...(lines.get(lowerCase) ?? []), ...values]);
  }
  return lines;
}
