import * as z from 'zod/mini';
import { operationIds, responses } from '../../shared/contract/operations.ts';
import { ErrorBody } from '../../shared/contract/schemas/errorBody.ts';
import {
  InventoryItem,
  ListedInventoryItem,
  PetStatus,
} from '../../shared/contract/schemas/inventory.ts';
import { InventoryUpdate } from '../../shared/contract/schemas/inventoryUpdate.ts';
import { Order } from '../../shared/contract/schemas/order.ts';
import { Pet } from '../../shared/contract/schemas/pet.ts';
import type { JsonSchema } from './openApi.ts';
import { type Described, schemaTexts } from './schemaTexts.ts';

const named = {
  InventoryItem,
  ListedInventoryItem,
  PetStatus,
  InventoryUpdate,
  Pet,
  Order,
  Error: ErrorBody,
} as const;

export type SchemaName = keyof typeof named;

export function toReference(name: SchemaName): JsonSchema {
  return { $ref: toUri(name) };
}

/** A schema of the contract as the document has it: by its name where it has one. */
export type SchemaOf = (schema: z.core.$ZodType) => JsonSchema;

/** The contract's schemas that have a name, and a look into the others. */
export function toSchemas(): {
  components: Readonly<Record<SchemaName, JsonSchema>>;
  schemaOf: SchemaOf;
} {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  for (const id of operationIds) {
    if (!registry.has(responses[id])) registry.add(responses[id], { id });
  }
  // What the service sends is what it would take: members that are not known yet are let through.
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    unrepresentable: 'any',
    uri: toUri,
    override: ({ zodSchema, jsonSchema }) => simplify(zodSchema._zod.def.type, jsonSchema),
  });
  const toSchema = (id: string) => {
    const { $schema, $id, ...schema } = schemas[id] as JsonSchema;
    return schema;
  };
  const components = Object.fromEntries(
    Object.entries(schemaTexts).map(([name, text]) => [name, describe(toSchema(name), text)]),
  ) as Record<SchemaName, JsonSchema>;
  const schemaOf = (schema: z.core.$ZodType) => {
    const { id = '' } = registry.get(schema) ?? {};
    return id in named ? { $ref: toUri(id) } : toSchema(id);
  };
  return { components, schemaOf };
}

function toUri(name: string): string {
  return `#/components/schemas/${name}`;
}

/** An int64 is read through a pipe, which has no schema; a format makes the pattern behind it needless. */
function simplify(type: string, schema: Record<string, unknown>): void {
  if (type === 'pipe') {
    for (const keyword of Object.keys(schema)) delete schema[keyword];
    Object.assign(schema, { type: 'integer', format: 'int64' });
  }
  if (schema.format === 'date-time') delete schema.pattern;
}

function describe(schema: JsonSchema, { about, members = {} }: Described): JsonSchema {
  const properties = schema.properties as Record<string, JsonSchema> | undefined;
  return {
    description: about,
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          { ...property, description: members[name] },
        ]),
      ),
    }),
  };
}
