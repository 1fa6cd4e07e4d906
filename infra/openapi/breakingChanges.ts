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
  const { before, after } = pair;
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
        ? [
            ...findOperationChanges(operation, current),
            ...findContentChanges(pair, operation, current),
          ]
        : hasSet(operation, now)
          ? []
          : ['it is gone'];
      found.push(...changes.map((change) => `${method.toUpperCase()} ${path}: ${change}`));
    }
  }
  return found;
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

function findContentChanges(pair: Pair, before: OperationObject, after: OperationObject): string[] {
  const found = findParameterChanges(before.parameters, after.parameters);
  if (after.requestBody?.required && !before.requestBody?.required) {
    found.push('a body is required now');
  }
  found.push(
    ...findBodyChanges(pair, before.requestBody?.content, after.requestBody?.content, 'sent'),
  );
  for (const [status, response] of Object.entries(before.responses)) {
    const current = after.responses[status];
    const changes = current
      ? [
          ...findHeaderChanges(pair, response, current),
          ...findBodyChanges(pair, response.content, current.content, 'received'),
        ]
      : // An error that no longer comes troubles nobody.
        Number(status) < 400
        ? ['it is gone']
        : [];
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

function findHeaderChanges(pair: Pair, before: ResponseObject, after: ResponseObject): string[] {
  return Object.keys(before.headers).flatMap((name) => {
    const now = toHeader(pair.after, after, name);
    if (!now) return [`the header ${name} is gone`];
    const isLess = toHeader(pair.before, before, name)?.required && !now.required;
    return isLess ? [`the header ${name} is not always there any more`] : [];
  });
}

function toHeader(document: OpenApiDocument, { headers }: ResponseObject, name: string) {
  const header = headers[name];
  const { $ref } = header ?? {};
  return $ref === undefined ? header : document.components.headers[$ref.replace(/^.*\//, '')];
}

function findBodyChanges(
  { before, after }: Pair,
  released: Content = {},
  current: Content = {},
  direction: Direction,
): string[] {
  return Object.entries(released).flatMap(([type, { schema }]) => {
    const now = current[type]?.schema;
    if (!now) return [`${type} is gone`];
    const schemas = { before: resolveSchema(schema, before), after: resolveSchema(now, after) };
    return findSchemaChanges(schemas, direction);
  });
}

/** Who makes the values: what a client sends may become more, and what it gets may become less. */
type Direction = 'sent' | 'received';

/** Of a schema that was released and what it is now, in their own documents. */
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

/**
 * Why clients of the one schema break at the other, each with the place in the value; nothing when they
 * do not. Schemas are to be whole (`resolveSchema`).
 */
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

/** The schema without `$ref` and `allOf`. */
function resolveSchema(schema: JsonSchema, document: OpenApiDocument): JsonSchema {
  const { $ref, allOf = [], properties, items, ...rest } = schema;
  const parts = [
    ...($ref ? [document.components.schemas[String($ref).replace(/^.*\//, '')] ?? {}] : []),
    ...(allOf as JsonSchema[]),
  ].map((part) => resolveSchema(part, document));
  const own = Object.entries(toProperties({ properties })).map(([name, property]) => [
    name,
    resolveSchema(property, document),
  ]);
  const merged = parts.reduce<JsonSchema>((whole, part) => merge(whole, part), {});
  return merge(merged, {
    ...rest,
    ...(properties !== undefined && { properties: Object.fromEntries(own) }),
    ...(items !== undefined && { items: resolveSchema(items as JsonSchema, document) }),
  });
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

/** As a lower bound, whichever it is. */
function toBound(value: unknown, sign: 1 | -1): number {
  return typeof value === 'number' ? value * sign : Number.NEGATIVE_INFINITY;
}

function toValues({ const: only, enum: values }: JsonSchema): unknown[] | undefined {
  return only === undefined ? (values as unknown[] | undefined) : [only];
}

function toNames(required: unknown): readonly string[] {
  return (required as string[] | undefined) ?? [];
}

function toProperties({ properties = {} }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties as Record<string, JsonSchema>;
}

function toText(value: unknown): string {
  return value === undefined ? 'free' : JSON.stringify(value);
}
