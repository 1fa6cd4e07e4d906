import { type ErrorCode, refusalCodes, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { type Operation, toLifecycleHeaders } from '../../../shared/contract/operation.ts';
import { tooLargeResponses } from '../../gateway/gatewayErrors.ts';
import { type HeaderUse, toHeaderReferences } from './headers.ts';
import type {
  Example,
  HeaderObject,
  JsonSchema,
  RecordedExample,
  ResponseObject,
} from './openApi.ts';
import { toSchemaUri } from './schemas.ts';

/** Errors of any operation, beside those in its row of the contract. */
export const errorsAnywhere = [
  'too_many_requests',
  'internal_error',
  'service_unavailable',
] as const satisfies readonly ErrorCode[];

export function toResponseObjects(
  operation: Operation,
  success: { description: string; schema: JsonSchema },
  examples: readonly RecordedExample[],
): Record<string, ResponseObject> {
  const buildContent = (status: number, schema: JsonSchema) => ({
    'application/json': { schema, examples: selectExamples(examples, status, 'response') },
  });
  const responses: Record<string, ResponseObject> = {
    200: {
      description: success.description,
      headers: buildHeaders(operation, listSuccessHeaders(operation)),
      content: buildContent(200, success.schema),
    },
  };
  if (operation.requestHeaders?.includes('If-None-Match')) {
    responses[304] = {
      description: 'Nothing has changed since the tag in `If-None-Match`: there is no body.',
      headers: buildHeaders(operation, { ETag: true }),
    };
  }
  const codes = [...operation.errors, ...errorsAnywhere];
  for (const [status, of] of Map.groupBy(codes, (code) => statusOfCode[code])) {
    if (of.includes('payload_too_large')) {
      responses[status] = tooLarge;
      continue;
    }
    responses[status] = {
      description: of
        .map((code) => `\`${code}\`: ${causes[code]} [More](errors.html#${code}).`)
        .join(' '),
      headers: buildHeaders(operation, listErrorHeaders(operation, of[0] as ErrorCode), of[0]),
      content: buildContent(status, {
        allOf: [
          { $ref: toSchemaUri('Error') },
          {
            properties: {
              code: buildCodeSchema(of),
              status: { const: status },
              ...(isOutcome(operation, of) && { refused: refusedSchema }),
            },
          },
        ],
      }),
    };
  }
  return responses;
}

function buildCodeSchema(codes: readonly ErrorCode[]): JsonSchema {
  return codes.length === 1 ? { const: codes[0] } : { enum: codes };
}

/** The recorded bodies of requests or responses with a status, by the names of their examples. */
export function selectExamples(
  examples: readonly RecordedExample[],
  status: number,
  part: 'request' | 'response',
): Record<string, Example> {
  return Object.fromEntries(
    examples
      .filter((one) => one.status === status && one[part] !== undefined)
      .map(({ name, summary, [part]: value }) => [name, { summary, value }]),
  );
}

const causes: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'the path, the query, a header or the body is invalid; the message says what.',
  unauthorized: 'the API key is missing or not valid.',
  forbidden: 'the API key only allows reading.',
  not_found: 'nothing has this id.',
  unknown_path: 'there is no such path.',
  method_not_allowed: 'the path does not have this method.',
  not_for_sale: 'a pet’s status is not `available`; nothing changed.',
  insufficient_stock: 'a pet has too few units; nothing changed.',
  quantity_out_of_range: 'a stock count would be too large; nothing changed.',
  precondition_failed: 'the entry has changed since its tag was read; the update had no effect.',
  payload_too_large: 'the body is too large.',
  unsupported_media_type: 'the `Content-Type` is not JSON.',
  idempotency_key_reused: 'another request had the `Idempotency-Key`; this one had no effect.',
  too_many_requests: 'there are too many requests at once; this one had no effect.',
  internal_error: 'something went wrong in the service.',
  service_unavailable: 'the service is busy; a change may or may not have been applied.',
};

const errorHeaders: Readonly<Partial<Record<ErrorCode, HeaderUse>>> = {
  unauthorized: { 'WWW-Authenticate': false },
  forbidden: { 'WWW-Authenticate': false },
  precondition_failed: { ETag: true },
  too_many_requests: { 'Retry-After': true },
  service_unavailable: { 'Retry-After': true },
};

/** A refusal is the outcome of an `Idempotency-Key`, which a replay repeats. */
function listErrorHeaders(operation: Operation, code: ErrorCode): HeaderUse {
  const isReplayed = isOutcome(operation, [code]);
  return { ...errorHeaders[code], ...(isReplayed && { 'Idempotent-Replayed': false }) };
}

/** Whether the errors are outcomes of an `Idempotency-Key`. */
function isOutcome(operation: Operation, codes: readonly ErrorCode[]): boolean {
  return isKeyed(operation) && codes.some((code) => refusalCodes.some((one) => one === code));
}

const refusedSchema = {
  description:
    'One for each pet that could not be sold or returned, in the order of the first request with the key. Missing in outcomes that an earlier release stored.',
  type: 'array',
  items: { $ref: toSchemaUri('Refusal') },
} as const satisfies JsonSchema;

function isKeyed({ requestHeaders }: Operation): boolean {
  return requestHeaders?.includes('Idempotency-Key') ?? false;
}

/**
 * API Gateway's own response, which has neither code nor status. They are optional here, so that a generated client can
 * read the code of any error. No valid request gets it, so its form in plain text is left out.
 */
const tooLarge: ResponseObject = {
  description:
    'The body is too large: no valid request gets this response. It is the gateway’s own, without `code`, `status` and the headers of all other responses. Past 10 MB, it is plain text. [More](errors.html#payload_too_large).',
  headers: {},
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          code: { const: 'payload_too_large' },
          message: { type: 'string' },
          status: { const: statusOfCode.payload_too_large },
        },
        required: ['message'],
      },
      examples: {
        tooLarge: {
          summary: 'More than a function can receive',
          value: { message: tooLargeResponses.payload.message },
        },
      },
    },
  },
};

function listSuccessHeaders(operation: Operation): HeaderUse {
  const { requestHeaders = [], query = {}, streamed } = operation;
  return {
    // A list of several pages has none.
    ...(requestHeaders.includes('If-None-Match') && { ETag: !streamed }),
    ...(requestHeaders.includes('If-Match') && { ETag: true }),
    ...('cursor' in query && { Link: false }),
    ...(isKeyed(operation) && { 'Idempotent-Replayed': false }),
  };
}

function buildHeaders(
  { lifecycle }: Operation,
  use: HeaderUse = {},
  code?: ErrorCode,
): Record<string, HeaderObject> {
  const fromFunction = !errorsAnywhere.some((one) => one === code);
  const lifecycleHeaders = Object.keys(toLifecycleHeaders(lifecycle, ''));
  return toHeaderReferences({
    'X-Request-Id': true,
    ...use,
    // The gateway's own responses do not have these.
    'Cache-Control': fromFunction,
    ...Object.fromEntries(lifecycleHeaders.map((name) => [name, fromFunction])),
    Vary: false,
    'Access-Control-Allow-Origin': false,
    'Access-Control-Expose-Headers': false,
  });
}
