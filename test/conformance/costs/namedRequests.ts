import * as z from 'zod/mini';
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../../shared/contract/headers.ts';
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
   * processor, and some 5 ms for each call to DynamoDB. A bill has the exact time. A whole list has another one with
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
  const inQuery = Object.entries(operation.query ?? {}).map(([name, { schema }]): Part => {
    const texts = queries.flatMap((query) => query.get(name) ?? []);
    const values = texts.map((text) => (schema.type === 'array' ? text.split(',') : text));
    return { name, schema, values };
  });
  const ids = own.flatMap(({ path }) => path.match(/\d{19}/) ?? []);
  const inPath = Object.keys(operation.parameters ?? {}).map(
    (name): Part => ({ name, schema: {}, values: ids }),
  );
  const inHead = (operation.requestHeaders ?? []).map((name): Part => {
    const schema = name === 'Idempotency-Key' ? { maxLength: MAX_IDEMPOTENCY_KEY_LENGTH } : {};
    return { name, schema, values: own.flatMap(({ headers }) => headers?.[name] || []) };
  });
  const bodies = own.flatMap(({ body }) => (body === undefined ? [] : [JSON.parse(String(body))]));
  const { requestBody = z.object({}) } = operation;
  const schema = z.toJSONSchema(requestBody, schemaOptions) as Schema;
  const parts = [...inQuery, ...inPath, ...inHead, { name: 'body', schema, values: bodies }];
  return [...new Set(parts.flatMap(findUnmeasuredParts))];
}

/** A parameter, or a part of a body, with the values that requests have there. */
interface Part {
  readonly name: string;
  readonly schema: Schema;
  readonly values: readonly unknown[];
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** Ids have no JSON Schema in zod, and no maximum. */
const schemaOptions = { io: 'input', unrepresentable: 'any' } as const;

function findUnmeasuredParts({ name, schema, values }: Part): string[] {
  const { properties, items, maxItems, maximum, maxLength } = schema;
  if (properties) {
    return Object.entries(properties).flatMap(([key, one]) => {
      const own = values.map((value) => (value as Record<string, unknown>)[key]);
      const found = own.filter((value) => value !== undefined);
      return findUnmeasuredParts({ name: key, schema: one, values: found });
    });
  }
  if (items) {
    const lists = values as (readonly unknown[])[];
    const isFull = lists.some(({ length }) => length === (maxItems ?? length));
    const inItems = findUnmeasuredParts({ name, schema: items, values: lists.flat() });
    return isFull ? inItems : [name, ...inItems];
  }
  const isMostExpensive = (value: unknown) =>
    (maximum === undefined || Math.abs(Number(value)) === maximum) &&
    (maxLength === undefined || String(value).length === maxLength);
  return values.some(isMostExpensive) ? [] : [name];
}
