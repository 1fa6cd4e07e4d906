import * as z from 'zod/mini';
import {
  InventoryAdjustment,
  InventoryAdjustments,
} from '../../../shared/contract/inventoryAdjustment.ts';
import { InventoryUpdate } from '../../../shared/contract/inventoryUpdate.ts';
import { operationIds, responses } from '../../../shared/contract/operations.ts';
import {
  AdjustedInventory,
  ErrorBody,
  InventoryItem,
  ListedInventoryItem,
  Order,
  Pet,
  PetStatus,
  Refusal,
} from '../../../shared/contract/schemas.ts';
import type { JsonSchema } from './openApi.ts';

/** A schema with a name in the document, and its descriptions. */
interface Named {
  readonly schema: z.ZodMiniType;
  readonly about: string;
  readonly members?: Readonly<Record<string, string>>;
}

const entry = {
  petId: 'The id of the pet; exact in the whole int64 range.',
  quantity: 'The current stock count.',
  status: 'The sale status of the pet. Updates of the stock do not change it.',
};

const named: Readonly<Record<string, Named>> = {
  InventoryItem: { schema: InventoryItem, about: 'The stock of one pet.', members: entry },
  ListedInventoryItem: {
    schema: ListedInventoryItem,
    about: 'The stock of one pet in a list.',
    members: {
      ...entry,
      etag: 'With `include=etag`: the opaque tag of the entry, exactly as `If-Match` expects it.',
    },
  },
  PetStatus: {
    schema: PetStatus,
    about: 'The sale status. This major version has no other values.',
  },
  InventoryUpdate: {
    schema: InventoryUpdate,
    about: 'The update. Members other than `quantity` are ignored.',
    members: { quantity: 'The new stock count, which replaces the current one.' },
  },
  InventoryAdjustment: {
    schema: InventoryAdjustment,
    about: 'What to add to the stock count of one pet. Other members are ignored.',
    members: {
      petId: 'The id of the pet; exact in the whole int64 range.',
      delta: 'The units to add: negative for a sale, positive for a return, never 0.',
    },
  },
  InventoryAdjustments: {
    schema: InventoryAdjustments,
    about: 'The adjustments, which all take effect or none. Other members are ignored.',
    members: { adjustments: 'One for each pet: add the deltas of a pet that is there twice.' },
  },
  AdjustedInventory: {
    schema: AdjustedInventory,
    about: 'The stock after an adjustment.',
    members: { entries: 'The entries in the order of the adjustments.' },
  },
  Pet: {
    schema: Pet,
    about: 'A pet.',
    members: {
      id: 'Its id; exact in the whole int64 range.',
      name: 'Its name.',
      status: 'Its sale status.',
      category: 'The kind of pet.',
      photoUrls: 'The URLs of its photos.',
      tags: 'Other terms to find it by.',
    },
  },
  Order: {
    schema: Order,
    about: 'An order.',
    members: {
      id: 'Its id; exact in the whole int64 range.',
      petId: 'The id of the ordered pet.',
      quantity: 'The number of ordered pets.',
      status: 'The progress of the order.',
      placedAt: 'When it was placed (RFC 3339).',
      shipDate: 'When it will be or was shipped (RFC 3339).',
      complete: 'Whether the order is complete.',
    },
  },
  Refusal: {
    schema: Refusal,
    about: 'Why an adjustment was refused for a pet, with the pet’s entry at that time.',
    members: {
      petId: 'The id of the pet; exact in the whole int64 range.',
      code: 'The reason.',
      quantity: 'Its stock count then; missing if there was no entry.',
      status: 'Its sale status then, if it was not for sale.',
    },
  },
  Error: {
    schema: ErrorBody,
    about: 'The body of every error of the service.',
    members: {
      code: 'For programs: the name of a section of [Errors](errors.html). This major version has no others.',
      message: 'For people: what was wrong and what would be right. The wording may change.',
      status: 'The status of the response.',
    },
  },
};

/** The contract's named schemas, and a lookup for the others. */
export function buildSchemas() {
  const registry = z.registry<{ id: string }>();
  for (const [id, { schema }] of Object.entries(named)) registry.add(schema, { id });
  for (const id of operationIds) {
    if (!registry.has(responses[id])) registry.add(responses[id], { id });
  }
  // Schemas of input allow unknown members, which clients must accept from newer versions.
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    unrepresentable: 'any',
    uri: toSchemaUri,
    override: ({ zodSchema, jsonSchema }) => simplify(zodSchema._zod.def.type, jsonSchema),
  });
  const readSchema = (id: string) => {
    const { $schema, $id, ...schema } = schemas[id] as JsonSchema;
    return schema;
  };
  const components = Object.fromEntries(
    Object.entries(named).map(([name, text]) => [name, describe(readSchema(name), text)]),
  );
  /** A schema of the contract as the document shows it: a reference if it has a name. */
  const schemaOf = (schema: z.core.$ZodType): JsonSchema => {
    const { id = '' } = registry.get(schema) ?? {};
    return id in named ? { $ref: toSchemaUri(id) } : readSchema(id);
  };
  return { components, schemaOf };
}

/** The schemas that operations refer to, and those that these refer to. */
export function selectSchemas<Schema>(all: Readonly<Record<string, Schema>>, paths: object) {
  const used = new Set<string>();
  function visit(part: unknown): void {
    for (const name of Object.keys(all)) {
      if (used.has(name) || !JSON.stringify(part).includes(`"${toSchemaUri(name)}"`)) continue;
      used.add(name);
      visit(all[name]);
    }
  }
  visit(paths);
  return Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)));
}

export function toSchemaUri(name: string): string {
  return `#/components/schemas/${name}`;
}

/**
 * An int64 is parsed by a pipe, which has no schema. All other integers have bounds within an int32. With a format, the
 * pattern is not needed.
 */
function simplify(type: string, schema: Record<string, unknown>): void {
  if (type === 'pipe') {
    for (const keyword of Object.keys(schema)) delete schema[keyword];
    Object.assign(schema, { type: 'integer', format: 'int64' });
  }
  if (schema.type === 'integer') schema.format ??= 'int32';
  if (schema.format === 'date-time') delete schema.pattern;
}

function describe(schema: JsonSchema, { about, members = {} }: Named): JsonSchema {
  const described = { description: about, ...schema };
  if (schema.properties === undefined) return described;
  const properties = Object.entries(schema.properties as Record<string, object>).map(
    ([name, property]) => [name, { ...property, description: members[name] }],
  );
  return { ...described, properties: Object.fromEntries(properties) };
}
