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

/** What only the client finds out. */
export const clientCodes = [
  'connection_failed',
  'timeout',
  'incomplete_list',
  'invalid_answer',
] as const;

/** Messages of one cause and one cure. An id, a name or a time in one of them is an example. */
export interface Explained {
  readonly code: ErrorCode | (typeof clientCodes)[number];
  readonly messages: readonly string[];
  readonly cause: string;
  readonly cure: string;
}

const rows: readonly Operation[] = Object.values(operations);
const again = 'Wait for as many seconds as `Retry-After` says, and [repeat it](retries.html).';
const repeat = 'Repeat [what is safe to repeat](retries.html).';
const readAgain =
  'Read the entry again, decide anew, and [send the update with the new tag](updates.html).';

/** What the checks of a request throw. */
const badRequests = {
  value: [
    'A parameter of the path or the query has a value that it does not take.',
    'Send what the message says: ids in digits alone, without a plus sign or zeros in front.',
  ],
  repeated: [
    'The query has the parameter more than once.',
    'Send it once. Only the `petId` of `listInventory` may be repeated.',
  ],
  exclusive: [
    'The entries of some ids come in one answer, and never in pages.',
    'Send the one or the other.',
  ],
  cursor: [
    'The cursor was cut, changed or made up, or is of another list or stage.',
    'Follow the [`Link`](lists.html#pages) of the page before as it is, or start at the first page.',
  ],
  emptyBody: [
    'The request has no body, or blanks alone. With curl, `-d` is missing.',
    'Send the quantity in JSON.',
  ],
  noJson: [
    'The body breaks off, is a form, or has a comma too many, single quotes or a comment.',
    'Let a library write the JSON. In a shell, put it between single quotes.',
  ],
  noUtf8: [
    'The body has bytes that are not UTF-8, such as Latin-1 or UTF-16.',
    'Encode it in UTF-8.',
  ],
  noObject: ['The body is an array, a number or another value in JSON.', 'Send an object.'],
  noQuantity: [
    'The object has no `quantity`. Names are case-sensitive, and unknown members are ignored.',
    'Compare the names that the message quotes with `quantity`.',
  ],
  quantity: [
    'The quantity is negative, a fraction, too large, or no number, such as `"5"` in quotes.',
    'Send the new stock count as a number, and not the difference.',
  ],
  ifMatch: [
    'The tag lost its double quotes, for instance in a shell, or there are too many tags.',
    'Send the `ETag` as it came, quotes included.',
  ],
  idempotencyKey: [
    'The key is empty or too long, or has a blank or a letter beyond ASCII.',
    'Draw a new random key, such as a UUID, for each update.',
  ],
} as const satisfies Record<keyof typeof refusals, readonly [cause: string, cure: string]>;

/** What a function throws beside those. */
const failures: readonly Explained[] = [
  explain(
    [new Unauthorized(false, '')],
    'There is no `Authorization`, or one of another scheme, such as `Basic`.',
    'Send the header once, as the message has it.',
  ),
  explain(
    [new Unauthorized(true, '')],
    'The key is mistyped, revoked or of another stage, or there are two `Authorization` headers. A stage on your own machine has new keys at each start.',
    'Compare the key with the one that you were given, or ask those who run the service for a new one.',
  ),
  explain(
    [new Forbidden()],
    'The key is valid and may only read, while the operation writes.',
    'Ask those who run the service for a key with write permission.',
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
    'The body came without the header, or with another type. At an unknown path or method, a body of a rare type is refused so too.',
    'Send the header as the message has it; with curl, by `-H`.',
  ),
  explain(
    [new StoreUnavailable(undefined)],
    'The database is busy or cannot be reached. An update may or may not have been applied.',
    again,
  ),
];

/** What the gateway answers by itself. */
const gatewayAnswers: readonly Explained[] = [
  explain(
    [gatewayErrors.DEFAULT_4XX],
    'The request is not valid HTTP, or its headers are [too large](limits.html#sizes).',
    'Send less in headers and cookies, or report the `X-Request-Id`.',
  ),
  explain(
    [gatewayErrors.WAF_FILTERED],
    'A firewall, where the stage has one, took the request for an attack or for one of too many from your address.',
    'Send fewer at once, or report the `X-Request-Id`.',
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
    'The path is known, with other methods.',
    'Use a method that the message names; the header `Allow` has them too.',
  ),
  explain(
    [injectedConflict],
    'A stage on your own machine was asked to fail so (`npm start -- --fail 412:0.1`).',
    readAgain,
  ),
  explain(
    Object.values(tooLargeAnswers).map(({ message }) => ({ code: 'payload_too_large', message })),
    'The body is larger than what a function can be handed, or than what the gateway reads: see [limits](limits.html#sizes).',
    'Send the quantity alone. No valid update is that large.',
  ),
  explain(
    [gatewayErrors.THROTTLED],
    'The operation gets more requests than its [limit](limits.html), from all clients together. This one had no effect.',
    again,
  ),
  explain(
    [gatewayErrors.DEFAULT_5XX],
    'An error in the service, which its operators are told of. An update may or may not have been applied.',
    `${repeat} Report the \`X-Request-Id\` if it stays.`,
  ),
  explain(
    [gatewayErrors.INTEGRATION_TIMEOUT],
    'The function did not answer in time. An update may or may not have been applied.',
    again,
  ),
];

/** What the client of this repository says by itself, whose floor imports no client: a test holds it to these. */
const clientErrors: readonly Explained[] = [
  explain(
    [
      {
        code: 'invalid_request',
        message: 'quantity must be an integer from 0 to 2147483647, and not -1.',
      },
      {
        code: 'invalid_request',
        message: 'petId must be a bigint, such as 7n or BigInt("7").',
      },
    ],
    'The client refuses the argument before it sends anything.',
    'Give the id as a bigint, and the new stock count as a number.',
  ),
  explain(
    [{ code: 'connection_failed', message: 'The service could not be reached.' }],
    'The name does not resolve, nothing listens there, or the browser blocked the call. `cause` has the reason.',
    `Check \`baseUrl\` and the network. ${repeat}`,
  ),
  explain(
    [{ code: 'connection_failed', message: 'The answer broke off before its end.' }],
    'The connection ended within an answer. An update may or may not have been applied.',
    repeat,
  ),
  explain(
    [{ code: 'timeout', message: 'Nothing came for 30000 ms.' }],
    'No answer came within `timeout`, or within what was left of `totalTimeout`.',
    `${repeat} Give more time only for large lists.`,
  ),
  explain(
    [{ code: 'incomplete_list', message: 'The answer broke off before its end.' }],
    'The list ended before its closing bracket.',
    'Discard what came, and read the list again.',
  ),
  explain(
    [{ code: 'invalid_answer', message: 'The answer is not one that getPet gives.' }],
    'Something else answered with status 200, such as the login page of a network.',
    'Check `baseUrl`, and read `cause`.',
  ),
  explain(
    [
      {
        code: 'invalid_answer',
        message: 'The next page is one that was read already: the list would never end.',
      },
    ],
    'Something between you and the service answers with an old page, such as a cache.',
    'Check `baseUrl`, and have nothing in between cache answers.',
  ),
  explain(
    [
      {
        code: 'service_unavailable',
        message: 'Something answered with status 502, and not as the service does.',
      },
    ],
    'The client got the error page of a proxy or of another server. The code is that of its status.',
    repeat,
  ),
  explain(
    [
      {
        code: 'invalid_answer',
        message: 'Something answered with status 302, and not as the service does.',
      },
    ],
    'A proxy or another server answered, with a status that the service does not have.',
    `Check that \`baseUrl\` is the base address, which ends in \`/${apiVersion}\`.`,
  ),
];

/** Every message that a client can meet. */
export const errorCatalogue: readonly Explained[] = [
  ...Object.entries(badRequests).map(([name, [cause, cure]]) =>
    explain(refusals[name as keyof typeof refusals], cause, cure),
  ),
  ...failures,
  ...gatewayAnswers,
  ...clientErrors,
];

/** What the gateway says of REQUEST_TOO_LARGE is ignored: see `tooLargeAnswers`. */
const { REQUEST_TOO_LARGE: _, ...replaced } = gatewayErrors;

/** @throws {Error} that names the first of the gateway's messages without a cause */
export function checkCatalogue(answers: readonly GatewayError[] = Object.values(replaced)): void {
  for (const { code, message } of answers) {
    const isExplained = (one: Explained) => one.code === code && one.messages.includes(message);
    if (!errorCatalogue.some(isExplained)) {
      throw new Error(`errorCatalogue.ts has no cause and no cure of "${message}" (${code}).`);
    }
  }
}

/** @throws {Error} when there is no message, or they have several codes */
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

/** What a client gets of what a function throws. */
function toBody(error: Error): ErrorBody {
  return JSON.parse(String(toErrorResponse(error).body));
}
