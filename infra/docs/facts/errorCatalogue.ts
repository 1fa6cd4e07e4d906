import type { ErrorBody, ErrorCode } from '../../../shared/contract/errorBody.ts';
import {
  Forbidden,
  NotFound,
  PreconditionFailed,
  StoreUnavailable,
  Unauthorized,
  UnsupportedMediaType,
} from '../../../shared/contract/errors.ts';
import { apiVersion, type Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { entryPetId, petId } from '../../../shared/contract/parameters.ts';
import { toErrorResponse } from '../../../shared/http/toErrorResponse.ts';
import {
  type GatewayError,
  gatewayErrors,
  injectedConflict,
  toAllow,
  toMethodNotAllowedError,
  tooLargeAnswers,
} from '../../gateway/gatewayErrors.ts';
import { refusals } from './refusals.ts';

/** Codes that only the client has. */
export const clientCodes = [
  'connection_failed',
  'timeout',
  'incomplete_list',
  'invalid_answer',
] as const;

/** Messages with the same cause and cure. Ids, names and times in them are examples. */
export interface Explained {
  readonly code: ErrorCode | (typeof clientCodes)[number];
  readonly messages: readonly string[];
  readonly cause: string;
  readonly cure: string;
}

const rows: readonly Operation[] = Object.values(operations);
const again = 'Wait the number of seconds in `Retry-After`, then [retry](retries.html).';
const repeat = 'Retry [if that is safe](retries.html).';
const readAgain =
  'Read the entry again, decide again, and [send the update with the new tag](updates.html).';

/** Errors of the request checks. */
const badRequests = {
  value: [
    'A parameter of the path or the query has an invalid value.',
    'Send what the message says. Write ids in digits only, without a plus sign or leading zeros.',
  ],
  repeated: [
    'The query has the parameter more than once.',
    'Send it once. Only the `petId` of `listInventory` may be repeated.',
  ],
  exclusive: [
    'Entries requested by id come in one response, never in pages.',
    'Send only one of them.',
  ],
  cursor: [
    'The cursor was cut, changed or made up, or belongs to another list or stage.',
    'Follow the [`Link`](lists.html#pages) of the previous page unchanged, or start at the first page.',
  ],
  emptyBody: [
    'The request has no body, or only blanks. With curl, `-d` is missing.',
    'Send the quantity as JSON.',
  ],
  noJson: [
    'The body is truncated or a form, or has an extra comma, single quotes or a comment.',
    'Let a library write the JSON. In a shell, put it in single quotes.',
  ],
  noUtf8: [
    'The body has bytes that are not UTF-8, for example Latin-1 or UTF-16.',
    'Encode it in UTF-8.',
  ],
  noObject: ['The body is an array, a number or another JSON value.', 'Send an object.'],
  noQuantity: [
    'The object has no `quantity`. Names are case-sensitive, and unknown members are ignored.',
    'Compare the names that the message quotes with `quantity`.',
  ],
  quantity: [
    'The quantity is negative, a fraction, too large, or not a number, such as `"5"` in quotes.',
    'Send the new stock count as a number, not the difference.',
  ],
  ifMatch: [
    'The tag lost its double quotes, for example in a shell, or there are too many tags.',
    'Send the `ETag` unchanged, quotes included.',
  ],
  idempotencyKey: [
    'The key is empty or too long, or has a blank or a character outside ASCII.',
    'Generate a new random key, such as a UUID, for each update.',
  ],
} as const satisfies Record<keyof typeof refusals, readonly [cause: string, cure: string]>;

/** Other errors of functions. */
const failures: readonly Explained[] = [
  explain(
    [new Unauthorized(false, '')],
    'The `Authorization` header is missing, or has another scheme, such as `Basic`.',
    'Send the header once, as the message shows it.',
  ),
  explain(
    [new Unauthorized(true, '')],
    'The key is mistyped, revoked or from another stage, or there are two `Authorization` headers. A stage on your own machine has new keys at each start.',
    'Compare the key with the one that you received, or ask the operators of the service for a new one.',
  ),
  explain(
    [new Forbidden()],
    'The key is valid but may only read, and the operation writes.',
    'Ask the operators of the service for a key with write permission.',
  ),
  explain(
    [new NotFound(entryPetId, 7n), new NotFound(petId, 7n)],
    'Nothing has this id. An update never creates an entry.',
    'Take ids from [the list](lists.html), and [keep them exact](numbers.html).',
  ),
  explain(
    [new PreconditionFailed(entryPetId, 7n, '')],
    'The entry has changed since you read the tag in `If-Match`, or `If-None-Match` is `*`. Your update had no effect.',
    readAgain,
  ),
  explain(
    [new UnsupportedMediaType()],
    'The body has no `Content-Type`, or another one. An unknown path or method with a body of a rare type gets this error too.',
    'Send the header as the message shows it; with curl, use `-H`.',
  ),
  explain(
    [new StoreUnavailable(undefined)],
    'The database is busy or cannot be reached. An update may or may not have been applied.',
    again,
  ),
];

/** The gateway's own errors. */
const gatewayAnswers: readonly Explained[] = [
  explain(
    [gatewayErrors.DEFAULT_4XX],
    'The request is not valid HTTP, or its headers are [too large](limits.html#sizes).',
    'Send fewer headers and cookies, or report the `X-Request-Id`.',
  ),
  explain(
    [gatewayErrors.WAF_FILTERED],
    'The firewall, if the stage has one, blocked the request as an attack or because your address sent too many.',
    'Send fewer requests at once, or report the `X-Request-Id`.',
  ),
  explain(
    [gatewayErrors.RESOURCE_NOT_FOUND],
    `The path is mistyped or ends in a slash, or the base address lacks its \`/${apiVersion}\`.`,
    'Compare the address with the [reference](reference.html).',
  ),
  explain(
    [...Map.groupBy(rows, ({ path }) => path).values()].map((same) =>
      toMethodNotAllowedError(toAllow(same.map(({ method }) => method))),
    ),
    'The path exists, but not with this method.',
    'Use a method that the message lists; the `Allow` header lists them too.',
  ),
  explain(
    [injectedConflict],
    'A stage on your own machine was started to fail this way (`npm start -- --fail 412:0.1`).',
    readAgain,
  ),
  explain(
    Object.values(tooLargeAnswers).map(({ message }) => ({ code: 'payload_too_large', message })),
    'The body is larger than a function can receive, or than the gateway reads: see [limits](limits.html#sizes).',
    'Send only the quantity. No valid update is that large.',
  ),
  explain(
    [gatewayErrors.THROTTLED],
    'All clients together sent more requests than the [limit](limits.html) of the operation. This one had no effect.',
    again,
  ),
  explain(
    [gatewayErrors.DEFAULT_5XX],
    'The service has an error, which is reported to its operators. An update may or may not have been applied.',
    `${repeat} If the error persists, report the \`X-Request-Id\`.`,
  ),
  explain(
    [gatewayErrors.INTEGRATION_TIMEOUT],
    'The function did not respond in time. An update may or may not have been applied.',
    again,
  ),
];

/** The client's own errors. This room must not import the client; a test compares them. */
const clientErrors: readonly Explained[] = [
  explain(
    [
      {
        code: 'invalid_request',
        message: 'quantity must be an integer from 0 to 2147483647, not -1.',
      },
      {
        code: 'invalid_request',
        message: 'petId must be a bigint, such as 7n or BigInt("7").',
      },
    ],
    'The client rejects the argument before it sends anything.',
    'Pass the id as a bigint, and the new stock count as a number.',
  ),
  explain(
    [{ code: 'connection_failed', message: 'The service could not be reached.' }],
    'The host name does not resolve, nothing listens there, or the browser blocked the call. `cause` has the reason.',
    `Check \`baseUrl\` and the network. ${repeat}`,
  ),
  explain(
    [{ code: 'connection_failed', message: 'The response was truncated.' }],
    'The connection ended during a response. An update may or may not have been applied.',
    repeat,
  ),
  explain(
    [{ code: 'timeout', message: 'Timed out after 30000 ms.' }],
    'No complete response came within `timeout` or the rest of `totalTimeout`, or a stream was silent for `timeout`.',
    `${repeat} Raise the timeout only for large lists.`,
  ),
  explain(
    [{ code: 'incomplete_list', message: 'The response was truncated.' }],
    'The list ended before its closing bracket.',
    'Discard the truncated list, and read it again.',
  ),
  explain(
    [{ code: 'invalid_answer', message: 'The response is not a valid getPet response.' }],
    'Another server responded with status 200, for example with the login page of a network.',
    'Check `baseUrl`, and read `cause`.',
  ),
  explain(
    [
      {
        code: 'invalid_answer',
        message: 'The next page was already read: the list would never end.',
      },
    ],
    'A cache or another server between you and the service returns an old page.',
    'Check `baseUrl`, and make sure that nothing in between caches responses.',
  ),
  explain(
    [
      {
        code: 'service_unavailable',
        message: 'The response has status 502, but no error body of the service.',
      },
    ],
    'The client got the error page of a proxy or another server. The code follows from its status.',
    repeat,
  ),
  explain(
    [
      {
        code: 'invalid_answer',
        message: 'The response has status 302, but no error body of the service.',
      },
    ],
    'A proxy or another server responded, with a status that the service does not have.',
    `Check that \`baseUrl\` is the base address, which ends in \`/${apiVersion}\`.`,
  ),
];

/** Every error message that a client can get. */
export const errorCatalogue: readonly Explained[] = [
  ...Object.entries(badRequests).map(([name, [cause, cure]]) =>
    explain(refusals[name as keyof typeof refusals], cause, cure),
  ),
  ...failures,
  ...gatewayAnswers,
  ...clientErrors,
];

/** API Gateway ignores our text for REQUEST_TOO_LARGE: see `tooLargeAnswers`. */
const { REQUEST_TOO_LARGE: _, ...replaced } = gatewayErrors;

/** @throws {Error} with the gateway's first message that has no cause */
export function checkCatalogue(answers: readonly GatewayError[] = Object.values(replaced)): void {
  for (const { code, message } of answers) {
    const isExplained = (one: Explained) => one.code === code && one.messages.includes(message);
    if (!errorCatalogue.some(isExplained)) {
      throw new Error(`errorCatalogue.ts has no cause and cure for "${message}" (${code}).`);
    }
  }
}

/** @throws {Error} if there is no message, or if they have several codes */
function explain(errors: readonly (Error | Told)[], cause: string, cure: string): Explained {
  const told = errors.map((error) => (error instanceof Error ? toBody(error) : error));
  const [code, ...others] = new Set(told.map((one) => one.code));
  if (!code || others.length > 0) throw new Error(`${told.length} messages of: ${cause}`);
  return { code, messages: [...new Set(told.map(({ message }) => message))], cause, cure };
}

interface Told {
  readonly code: Explained['code'];
  readonly message: string;
}

function toBody(error: Error): ErrorBody {
  return JSON.parse(String(toErrorResponse(error).body));
}
