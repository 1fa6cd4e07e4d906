import type { JsonSchema, OpenApiDocument } from '../openApi.ts';

/** Who makes the values: what a client sends may become more, and what it gets may become less. */
export type Direction = 'sent' | 'received';

/** Of a schema that was released and what it is now, in their own documents. */
export interface SchemaPair {
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
export function findSchemaChanges(
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
export function resolveSchema(schema: JsonSchema, document: OpenApiDocument): JsonSchema {
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
