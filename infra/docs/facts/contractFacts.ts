import {
  type ErrorCode,
  retryAfter,
  statusOfCode,
  toErrorBody,
} from '../../../shared/contract/errorBody.ts';
import { NotFound } from '../../../shared/contract/errors.ts';
import {
  IDEMPOTENCY_HOURS,
  MAX_CLIENT_REQUEST_ID_LENGTH,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  MAX_TAGS,
} from '../../../shared/contract/headers.ts';
import {
  apiVersion,
  type Lifecycle,
  type Operation,
  toLifecycleHeaders,
} from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { DEFAULT_LIMIT } from '../../../shared/contract/pageQuery.ts';
import { entryPetId } from '../../../shared/contract/parameters.ts';
import { MAX_QUANTITY, petStatuses } from '../../../shared/contract/values.ts';
import {
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
} from '../../gateway/gatewayErrors.ts';
import type { OpenApiDocument } from '../../openapi/openApiDocument.ts';
import { type Placeholders, toTable } from '../guide.ts';

const rows = Object.values<Operation>(operations);

/**
 * Facts from the contract about operations and their values.
 * @param documentationAddress where the site is published, without a slash at the end
 */
export function toOperationFacts(documentationAddress: string): Placeholders {
  return {
    apiVersion: () => apiVersion,
    operations: toOperationTable,
    lifecycleHeaders: (id) => {
      const headers = toLifecycleHeaders(toDeprecation(id), documentationAddress);
      return Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n');
    },
    deprecation: (id) => {
      const { since, sunset } = toDeprecation(id);
      return `Deprecated from **${toDay(since)}**; available at least until **${toDay(sunset)}** (00:00 UTC).`;
    },
  };
}

function toOperationTable(): string {
  return toTable(
    ['operation', '', 'permission', 'level'],
    rows.map(({ operationId, method, path, permission, lifecycle }) => [
      `[\`${operationId}\`](reference.html)`,
      `\`${method} ${path}\``,
      permission,
      lifecycle.kind === 'deprecated'
        ? `[deprecated](deprecations.html#${operationId})`
        : lifecycle.kind,
    ]),
  );
}

function toDeprecation(operationId: string): Extract<Lifecycle, { kind: 'deprecated' }> {
  const lifecycle = rows.find((row) => row.operationId === operationId)?.lifecycle;
  if (lifecycle?.kind !== 'deprecated') throw new Error(`${operationId} is not deprecated.`);
  return lifecycle;
}

function toDay(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** The limits that the service sets for its clients. */
export const valueFacts: Placeholders = {
  bodyMegabytes: () => toCount(MAX_PAYLOAD_BYTES / 1024 / 1024),
  gatewayMegabytes: () => toCount(MAX_BODY_BYTES / 1024 / 1024),
  headerBytes: () => toCount(MAX_HEADER_BYTES),
  defaultLimit: () => toCount(DEFAULT_LIMIT),
  maxTags: () => toCount(MAX_TAGS),
  idempotencyKeyLength: () => toCount(MAX_IDEMPOTENCY_KEY_LENGTH),
  idempotencyHours: () => toCount(IDEMPOTENCY_HOURS),
  clientRequestIdLength: () => toCount(MAX_CLIENT_REQUEST_ID_LENGTH),
  maxQuantity: () => toCount(MAX_QUANTITY),
  statuses: () => petStatuses.map((status) => `\`${status}\``).join(', '),
};

/** The errors, without their messages: a test compares those in `guides/errors.md` with what requests get. */
export const errorFacts: Placeholders = {
  error: toStatus,
  errorExample: () =>
    JSON.stringify(toErrorBody('not_found', new NotFound(entryPetId, 7n).message)),
  retryAfter: () =>
    toTable(
      ['status', 'seconds', 'when'],
      [
        [429, retryAfter.throttled, 'there are too many requests at once'],
        [503, retryAfter.conflict, 'too many requests update one entry at once'],
        [503, retryAfter.unavailable, 'the database, or the service itself, is busy'],
      ],
    ),
};

/** The status of a code of the service, and the operations that respond with it. */
function toStatus(code: string): string | undefined {
  if (!Object.hasOwn(statusOfCode, code)) return undefined;
  const known = code as ErrorCode;
  const from = rows.filter(({ errors }) => errors.includes(known));
  const names = from.map(({ operationId }) => `\`${operationId}\``).join(', ');
  const all = from.length === rows.length ? 'every operation' : names;
  return `Status **${statusOfCode[known]}**, ${all === '' ? 'at any path' : `from ${all}`}.`;
}

function toCount(number: number): string {
  return number.toLocaleString('en');
}

/** Recorded requests and responses in the document, by `operationId.name`. */
export function toExampleFacts({ paths }: OpenApiDocument): Placeholders {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));

  function find(part: 'requestBody' | 'response', argument: string): unknown {
    const [id, name = ''] = argument.split('.');
    const operation = operations.find(({ operationId }) => operationId === id);
    const media = part === 'response' ? operation?.responses['200'] : operation?.requestBody;
    return media?.content?.['application/json']?.examples?.[name]?.value;
  }

  return {
    response: (argument) => JSON.stringify(find('response', argument)),
    request: (argument) => JSON.stringify(find('requestBody', argument)),
    tag: (argument) => {
      const [entry] = (find('response', argument) ?? []) as { etag?: string }[];
      return entry?.etag;
    },
  };
}
