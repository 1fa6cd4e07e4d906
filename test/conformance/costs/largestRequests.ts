import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../../shared/contract/headers.ts';
import openApi from '../../../shared/contract/openapi.json' with { type: 'json' };
import type { Operation } from '../../../shared/contract/operation.ts';
import type { ParameterSchema } from '../../../shared/contract/parameters.ts';
import { fillPath } from '../../../shared/contract/paths.ts';
import { MAX_QUANTITY } from '../../../shared/contract/values.ts';
import type { Sending } from '../target.ts';

/** Ids to ask for, by what they are, such as `pending`. The last of them do not exist. */
export type Subjects = Readonly<Record<string, readonly bigint[]>>;

export interface LargestRequest extends Sending {
  /** What it asks for, such as `limit=1000, include=etag`. */
  readonly request: string;
  readonly path: string;
  /** Whether its response has every entry. */
  readonly isWhole: boolean;
  /** Sent before, so that this one repeats it. */
  readonly isRepeated: boolean;
}

/** A part of a request, and what it is called. */
type Part = readonly [name: string, value: string | undefined];

/**
 * Every combination of what the contract lets a request of the operation have, each at its limit. What the contract
 * gets next is here too, or an error says what is not known of it.
 */
export function listLargestRequests(
  operation: Operation,
  subjects: Subjects,
  cursor: string | undefined,
): LargestRequest[] {
  const { query = {}, exclusive = [], path, parameters = {}, streamed } = operation;
  const queries = combine(
    Object.entries(query).map(([name, { schema }]) => toQueryParts(name, schema, subjects, cursor)),
  ).filter((parts) =>
    exclusive.every((names) => !names.every((name) => parts.some(([one]) => one === name))),
  );
  const headers = combine((operation.requestHeaders ?? []).map((name) => toHeaders(name)));
  const hasSubject = operation.requestBody !== undefined || Object.keys(parameters).length > 0;
  const kinds = hasSubject ? Object.entries(subjects) : [['', []] as const];
  return kinds.flatMap(([kind, ids]) =>
    toBodies(operation, ids).flatMap(([change, body]) =>
      queries.flatMap((inQuery) =>
        headers.map((inHeaders): LargestRequest => {
          const own = fillPath(path, String(ids[0]));
          const search = inQuery.map(([name, value]) => `${name}=${value}`).join('&');
          const has = (name: string) => inQuery.some(([one]) => one === name);
          const labels = [
            toSubject(kind, body),
            change,
            ...inQuery.map(([name, value = '']) => toLabel(name, value)),
            ...inHeaders.map(([name]) => name),
          ];
          return {
            request: labels.filter((label) => label !== '').join(', '),
            path: search === '' ? own : `${own}?${search}`,
            isWhole: streamed && !['limit', 'cursor', 'petId'].some(has),
            headers: Object.fromEntries([
              ...(body ? [['Content-Type', 'application/json']] : []),
              // Without what distinguishes it in the label.
              ...inHeaders.map(([name, value]) => [name.split(' ')[0], value]),
            ]),
            ...(body && { body }),
            isRepeated: inHeaders.some(([name]) => name.endsWith(' again')),
          };
        }),
      ),
    ),
  );
}

function toSubject(kind: string, body = ''): string {
  if (kind === '') return '';
  const { length } = body.match(/"petId":/g) ?? [''];
  if (length > 1) return `${length} ${kind} pets`;
  return `${kind.startsWith('a') ? 'an' : 'a'} ${kind} pet`;
}

/** Stands for the entry's current tag, and for a new key. */
export const CURRENT = '<current>';
export const NEW_KEY = '<new>';
export const makeKey = (number: number) => `${number}`.padStart(MAX_IDEMPOTENCY_KEY_LENGTH, 'k');

function toQueryParts(
  name: string,
  schema: ParameterSchema,
  subjects: Subjects,
  cursor: string | undefined,
): Part[] {
  const { enum: values, maximum, maxItems } = schema;
  const ids = Object.values(subjects).slice(0, -1).flat();
  if (values) return [none, ...values.map((value) => [name, value] as const)];
  if (maxItems !== undefined && schema.items?.format === 'int64') {
    return [none, [name, ids.slice(0, maxItems).join(',')]];
  }
  if (maximum !== undefined) return [none, [name, `${maximum}`]];
  if (name === 'cursor') return [none, [name, cursor]];
  throw new Error(`Say here which ${name} makes a request the most expensive.`);
}

const none: Part = ['', undefined];

function toHeaders(name: string): Part[] {
  if (name === 'Idempotency-Key') {
    return [
      [name, NEW_KEY],
      [`${name} again`, NEW_KEY],
    ];
  }
  if (name === 'If-None-Match') return [none, [name, CURRENT]];
  // The second is of no entry.
  if (name === 'If-Match')
    return [none, [name, CURRENT], [`${name} of another state`, '"AAAAGQBh"']];
  throw new Error(`Say here which ${name} makes a request the most expensive.`);
}

/** @returns every choice of one part of each, without those that are left out */
function combine(choices: readonly (readonly Part[])[]): Part[][] {
  return choices
    .reduce<Part[][]>(
      (all, parts) => all.flatMap((before) => parts.map((part) => [...before, part])),
      [[]],
    )
    .map((parts) => parts.filter(([name]) => name !== ''));
}

function toLabel(name: string, value: string): string {
  const { length } = value.split(',');
  if (length > 1) return `${length} of ${name}`;
  return name === 'cursor' ? name : `${name}=${value}`;
}

interface BodySchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly items?: BodySchema;
  readonly maxItems?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
}

/** What a body adds to each pet. With the most, it is refused. */
const deltas = Object.entries({
  '': 1,
  'to sell': -1,
  'to add the most': MAX_QUANTITY,
  'to sell the most': -MAX_QUANTITY,
});

function toBodies(operation: Operation, ids: readonly bigint[]): Part[] {
  if (!operation.requestBody) return [none];
  const bodies = deltas.map(([name, delta]) => [name, toBody(operation, ids, delta)] as const);
  // Without deltas, all are the same.
  return bodies.filter(([, body], index) => index === 0 || body !== bodies[0]?.[1]);
}

/** The largest body that the document describes. */
function toBody({ path, method }: Operation, ids: readonly bigint[], delta: number): string {
  const next = ids.values();
  const rows = openApi.paths as unknown as Record<string, Record<string, DocumentRow>>;
  const content = rows[path]?.[method.toLowerCase()]?.requestBody?.content;
  return toText(content?.['application/json']?.schema ?? {}, 'body');

  function toText(schema: BodySchema, name: string): string {
    const { $ref, properties, items, maxItems = 0, maximum, maxLength } = schema;
    const { enum: choices = [] } = schema;
    if ($ref) return toText(findSchema($ref), name);
    if (properties) {
      const members = Object.entries(properties);
      return `{${members.map(([key, one]) => `"${key}":${toText(one, key)}`).join()}}`;
    }
    if (items) return `[${Array.from({ length: maxItems }, () => toText(items, name)).join()}]`;
    if (name === 'petId') return `${next.next().value}`;
    if (name === 'delta') return `${delta}`;
    if (maximum !== undefined) return `${maximum}`;
    const longest = choices.toSorted((one, other) => other.length - one.length)[0];
    if (longest !== undefined) return JSON.stringify(longest);
    if (maxLength !== undefined) return JSON.stringify('x'.repeat(maxLength));
    throw new Error(`Say here which ${name} makes a request the most expensive.`);
  }
}

interface DocumentRow {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: BodySchema }>>;
  };
}

function findSchema(reference: string): BodySchema {
  const names = reference.replace('#/', '').split('/');
  let found: unknown = openApi;
  for (const name of names) found = (found as Record<string, unknown>)[name];
  return found as BodySchema;
}
