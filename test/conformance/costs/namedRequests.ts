import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../../shared/contract/headers.ts';
import openApi from '../../../shared/contract/openapi.json' with { type: 'json' };
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { suites } from '../operations/suites.ts';
import type { Sending } from '../target.ts';

/** A request that the model prices, as an operation's suite has it. */
export interface PricedRequest extends Omit<Sending, 'apiKey'> {
  /** The name in `traffic.json`. It begins with the status. */
  readonly response: string;
  /** In words, for the tables. */
  readonly request: string;
  readonly path: string;
  readonly key?: 'none' | 'read';
  /**
   * The time that Lambda bills, an assumption: the CPU that `npm run bench` measures, at the memory's share of a
   * processor, and some 5 ms for each call of DynamoDB. A bill has the exact time. A whole list has another one with
   * `longEntries` entries.
   */
  readonly milliseconds: number;
  readonly longMilliseconds?: number;
  readonly longEntries?: number;
}

export interface NamedRequest extends PricedRequest {
  readonly operationId: OperationId;
}

/** What the requests name. */
export interface Subjects {
  /** Ids of 19 digits, each of an entry and a pet. */
  readonly available: readonly bigint[];
  readonly pending: readonly bigint[];
  readonly petOfSample: bigint;
  readonly missing: bigint;
  readonly listTag: string;
  readonly entryTag: string;
  /** Of the second page, if the first has one element. */
  readonly cursors: Readonly<Partial<Record<OperationId, string>>>;
}

/** The requests of all suites. Each call makes new Idempotency-Keys, except for the replay. */
export function listNamedRequests(subjects: Subjects): NamedRequest[] {
  return operationIds.flatMap((operationId) =>
    suites[operationId].listRequests(subjects).map((request) => ({ operationId, ...request })),
  );
}

/** The parameters of the contract that no request of the operation has with its most expensive value. */
export function findUnmeasured(operation: Operation, requests: readonly NamedRequest[]): string[] {
  const own = requests.filter(({ operationId }) => operationId === operation.operationId);
  const queries = own.map(({ path }) => new URL(path, 'http://x').searchParams);
  const inQuery = Object.entries(operation.query ?? {}).filter(([name, { schema }]) => {
    const values = queries.flatMap((query) => query.get(name) ?? []);
    return !values.some(
      (value) =>
        (schema.maximum === undefined || Number(value) === schema.maximum) &&
        (schema.maxItems === undefined || value.split(',').length === schema.maxItems),
    );
  });
  const inPath = Object.keys(operation.parameters ?? {}).filter(
    () => !own.some(({ path }) => /\d{19}/.test(path)),
  );
  const headers = (operation.requestHeaders ?? []).filter(
    (name) =>
      !own.some(({ headers = {} }) => {
        const { [name]: value } = headers;
        return (
          value?.length &&
          (name !== 'Idempotency-Key' || value.length === MAX_IDEMPOTENCY_KEY_LENGTH)
        );
      }),
  );
  const bodies = own.flatMap(({ body }) => (body === undefined ? [] : [JSON.parse(String(body))]));
  const inBody = operation.requestBody ? findUnmeasuredMembers(readSchema(operation), bodies) : [];
  return [...inQuery.map(([name]) => name), ...inPath, ...headers, ...inBody];
}

interface BodySchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly items?: BodySchema;
  readonly maxItems?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** @param values those that requests have in the place of the schema */
function findUnmeasuredMembers(
  schema: BodySchema,
  values: readonly unknown[],
  name = 'body',
): string[] {
  const { $ref, properties, items, maxItems, maximum, maxLength } = schema;
  if ($ref) return findUnmeasuredMembers(resolve($ref), values, name);
  if (properties) {
    return Object.entries(properties).flatMap(([key, one]) => {
      const own = values.map((value) => (value as Record<string, unknown>)[key]);
      return findUnmeasuredMembers(
        one,
        own.filter((value) => value !== undefined),
        key,
      );
    });
  }
  if (items) {
    const lists = values as (readonly unknown[])[];
    const isFull = lists.some(({ length }) => length === (maxItems ?? length));
    return [...(isFull ? [] : [name]), ...findUnmeasuredMembers(items, lists.flat(), name)];
  }
  const isDearest = (value: unknown) =>
    (maximum === undefined || Math.abs(Number(value)) === maximum) &&
    (maxLength === undefined || String(value).length === maxLength);
  return values.some(isDearest) ? [] : [name];
}

function readSchema({ path, method }: Operation): BodySchema {
  const rows = openApi.paths as unknown as Record<string, Record<string, DocumentRow>>;
  const content = rows[path]?.[method.toLowerCase()]?.requestBody?.content;
  return content?.['application/json']?.schema ?? {};
}

interface DocumentRow {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: BodySchema }>>;
  };
}

function resolve(reference: string): BodySchema {
  const names = reference.replace('#/', '').split('/');
  let found: unknown = openApi;
  for (const name of names) found = (found as Record<string, unknown>)[name];
  return found as BodySchema;
}
