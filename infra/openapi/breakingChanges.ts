import type {
  Content,
  JsonSchema,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from './openApi.ts';

/** A document that was released, and what it is now. */
export interface Pair {
  readonly before: OpenApiDocument;
  readonly after: OpenApiDocument;
}

/** How far a client may rely on an operation, the least first; nothing is taken back by a deprecation. */
const stabilities = ['experimental', 'beta', 'stable', 'deprecated'];

/**
 * What breaks a client that keeps to the released document, a line for each change. Experimental
 * operations may change, one may go after its sunset, and a new major version may do anything.
 */
export function findBreakingChanges(pair: Pair, now: Date): string[] {
  const [before, after] = [expand(pair.before, pair.before), expand(pair.after, pair.after)];
  if (toMajor(after) > toMajor(before)) return [];
  const found: string[] = [];
  for (const { url } of before.servers) {
    if (!after.servers.some((server) => server.url === url))
      found.push(`the server ${url} is gone`);
  }
  if (JSON.stringify(after.security) !== JSON.stringify(before.security)) {
    found.push('the security is another');
  }
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation['x-stability'] === 'experimental') continue;
      const current = after.paths[path]?.[method];
      const changes = current
        ? [...findOperationChanges(operation, current), ...findContentChanges(operation, current)]
        : ['it is gone'];
      if (!current && hasSet(operation, now)) continue;
      found.push(...changes.map((change) => `${method.toUpperCase()} ${path}: ${change}`));
    }
  }
  return found;
}

/** The document, or a part of it, with what each `$ref` stands for, and each `allOf` in one. */
function expand<Node>(node: Node, document: OpenApiDocument): Node {
  if (Array.isArray(node)) return node.map((one) => expand(one, document)) as Node;
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, allOf = [], ...rest } = node as JsonSchema;
  const own = Object.entries(rest).map(([name, value]) => [name, expand(value, document)]);
  const [, ...names] = typeof $ref === 'string' ? $ref.split('/') : [];
  const target = names.reduce<JsonSchema>((at, name) => at[name] as JsonSchema, { ...document });
  const parts = [...($ref === undefined ? [] : [target]), ...(allOf as JsonSchema[])];
  return [...parts.map((part) => expand(part, document)), Object.fromEntries(own)].reduce(merge);
}

function merge(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = { ...toProperties(one) };
  for (const [name, property] of Object.entries(toProperties(other))) {
    properties[name] = merge(properties[name] ?? {}, property);
  }
  const required = [...new Set([...toNames(one.required), ...toNames(other.required)])];
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function toMajor({ info }: OpenApiDocument): number {
  return Number.parseInt(info.version, 10);
}

function hasSet({ 'x-sunset': sunset }: OperationObject, now: Date): boolean {
  return sunset !== undefined && new Date(sunset) < now;
}

function findOperationChanges(before: OperationObject, after: OperationObject): string[] {
  const found: string[] = [];
  if (before.operationId !== after.operationId) {
    found.push(`the operationId was ${before.operationId} and is ${after.operationId}`);
  }
  const [stability, current] = [before['x-stability'], after['x-stability']];
  if (stabilities.indexOf(current) < stabilities.indexOf(stability)) {
    found.push(`it was ${stability} and is ${current}`);
  }
  const [sunset, earlier] = [before['x-sunset'], after['x-sunset']];
  if (sunset && earlier && new Date(earlier) < new Date(sunset)) {
    found.push(`the sunset was ${sunset} and is ${earlier}`);
  }
  return found;
}

function findContentChanges(before: OperationObject, after: OperationObject): string[] {
  const found = findParameterChanges(before.parameters, after.parameters);
  if (after.requestBody?.required && !before.requestBody?.required) {
    found.push('a body is required now');
  }
  found.push(...findBodyChanges(before.requestBody?.content, after.requestBody?.content, 'sent'));
  for (const [status, response] of Object.entries(before.responses)) {
    const current = after.responses[status];
    // An error that no longer comes troubles nobody.
    if (!current && Number(status) >= 400) continue;
    const changes = current
      ? [
          ...findHeaderChanges(response, current),
          ...findBodyChanges(response.content, current.content, 'received'),
        ]
      : ['it is gone'];
    found.push(...changes.map((change) => `${status}: ${change}`));
  }
  return found;
}

function findParameterChanges(
  before: readonly ParameterObject[],
  after: readonly ParameterObject[],
): string[] {
  const toKey = (one: ParameterObject) => `the ${one.in} parameter ${one.name}`;
  const known = new Map(before.map((one) => [toKey(one), one]));
  const current = new Map(after.map((one) => [toKey(one), one]));
  const found: string[] = [];
  for (const [key, one] of known) {
    const now = current.get(key);
    if (!now) found.push(`${key} is gone`);
    else if (now.explode !== one.explode) found.push(`${key} is written otherwise`);
    else {
      const schemas = { before: one.schema, after: now.schema };
      found.push(...findSchemaChanges(schemas, 'sent', `${key}: `));
    }
  }
  for (const [key, { required }] of current) {
    if (required && !known.get(key)?.required) found.push(`${key} is required now`);
  }
  return found;
}

function findHeaderChanges(before: ResponseObject, after: ResponseObject): string[] {
  return Object.entries(before.headers).flatMap(([name, { required }]) => {
    const now = after.headers[name];
    if (!now) return [`the header ${name} is gone`];
    return required && !now.required ? [`the header ${name} is not always there any more`] : [];
  });
}

function findBodyChanges(
  before: Content = {},
  after: Content = {},
  direction: Direction,
): string[] {
  return Object.entries(before).flatMap(([type, { schema }]) => {
    const now = after[type]?.schema;
    return now ? findSchemaChanges({ before: schema, after: now }, direction) : [`${type} is gone`];
  });
}

/** Who makes the values: what a client sends may become more, and what it gets may become less. */
type Direction = 'sent' | 'received';

/** A schema that was released, and what it is now. */
interface SchemaPair {
  readonly before: JsonSchema;
  readonly after: JsonSchema;
}

/** What lower and upper bounds have in their names. */
const bounds = [
  ['minimum', 1],
  ['minLength', 1],
  ['minItems', 1],
  ['maximum', -1],
  ['maxLength', -1],
  ['maxItems', -1],
] as const;

/** Why clients of the one schema break at the other, each with the place in the value. */
function findSchemaChanges(
  { before, after }: SchemaPair,
  direction: Direction,
  place = '',
): string[] {
  // All values of the inner schema must be values of the outer one.
  const [inner, outer] = direction === 'sent' ? [before, after] : [after, before];
  const found: string[] = [];
  const tell = (what: string) => found.push(`${place}${what}`);
  for (const keyword of ['type', 'format', 'pattern']) {
    if (outer[keyword] !== undefined && inner[keyword] !== outer[keyword]) {
      tell(`${keyword} was ${toText(before[keyword])} and is ${toText(after[keyword])}`);
    }
  }
  for (const [keyword, sign] of bounds) {
    const [least, most] = [toBound(outer[keyword], sign), toBound(inner[keyword], sign)];
    if (most < least) {
      tell(`${keyword} was ${toText(before[keyword])} and is ${toText(after[keyword])}`);
    }
  }
  const values = toValues(outer);
  const others = toValues(inner)?.filter((value) => !values?.includes(value));
  if (values && (!others || others.length > 0)) {
    tell(`the values were ${toText(toValues(before))} and are ${toText(toValues(after))}`);
  }
  const required = toNames(inner.required);
  for (const name of toNames(outer.required)) {
    if (required.includes(name)) continue;
    tell(`${name} ${direction === 'sent' ? 'is required now' : 'is not always there any more'}`);
  }
  for (const [name, property] of Object.entries(toProperties(before))) {
    const now = toProperties(after)[name];
    if (!now) tell(`${name} is gone`);
    else
      found.push(
        ...findSchemaChanges({ before: property, after: now }, direction, `${place}${name}: `),
      );
  }
  if (before.items && after.items) {
    const items = { before: before.items as JsonSchema, after: after.items as JsonSchema };
    found.push(...findSchemaChanges(items, direction, `${place}each: `));
  }
  return found;
}

/** As a lower bound, whichever it is. */
function toBound(value: unknown, sign: 1 | -1): number {
  return typeof value === 'number' ? value * sign : Number.NEGATIVE_INFINITY;
}

function toValues({ const: only, enum: values }: JsonSchema): unknown[] | undefined {
  return only === undefined ? (values as unknown[] | undefined) : [only];
}

function toNames(required: unknown): readonly string[] {
  return Array.isArray(required) ? required : [];
}

function toProperties({ properties = {} }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties as Record<string, JsonSchema>;
}

function toText(value: unknown): string {
  return value === undefined ? 'free' : JSON.stringify(value);
}
