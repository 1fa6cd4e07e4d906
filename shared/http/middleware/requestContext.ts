import { MAX_CLIENT_REQUEST_ID_LENGTH } from '../../contract/headers.ts';
import { hideSecrets } from '../../keys/hideSecrets.ts';
import { logWarn } from '../../runtime/logger.ts';
import {
  MAX_NAME_LENGTH,
  type OperationMiddleware,
  type OperationRequest,
  readHeader,
} from '../operationRequest.ts';
import { isWarmUp } from '../warmUp.ts';

/** A client's own request id, for the log. Any other text is ignored. */
const plainName = new RegExp(`^[A-Za-z0-9._-]{1,${MAX_CLIENT_REQUEST_ID_LENGTH}}$`);

/**
 * Reads the event for the later steps. An event that is not a request ends the run without a response: it is not a
 * client's error, which deployments and alarms would count.
 */
export function requestContext(): OperationMiddleware {
  function readContext(request: OperationRequest): void {
    const { event, context, internal } = request;
    // Only a REST API's proxy integration sends all lines of the headers:
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
    internal.isRequest = 'multiValueHeaders' in Object(event);
    if (!internal.isRequest) {
      logWarn({ warning: 'The event is not a request of API Gateway.', event: describe(event) });
      Object.assign(request, { earlyResponse: undefined });
      return;
    }
    internal.isWarmUp = isWarmUp(event);
    internal.requestId =
      event.requestContext?.requestId ?? context.awsRequestId ?? crypto.randomUUID();
    // Set first, so that an unreadable event gets a response too.
    internal.headers = new Map();
    internal.headers = toHeaderLines(event.multiValueHeaders ?? {});
    const [clientRequestId] = readHeader(request, 'x-request-id')?.match(plainName) ?? [];
    internal.clientRequestId = clientRequestId && hideSecrets(clientRequestId);
    internal.path = event.requestContext?.path ?? '';
    internal.parameters = {};
    internal.query = {};
  }

  return { before: readContext };
}

/** How many names the log shows of another event. Its values may be secret. */
const MAX_NAMES = 10;

function describe(event: unknown): string | readonly string[] {
  if (typeof event !== 'object' || event === null) return event === null ? 'null' : typeof event;
  const names = Object.keys(event).slice(0, MAX_NAMES);
  return names.map((name) => name.slice(0, MAX_NAME_LENGTH));
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
