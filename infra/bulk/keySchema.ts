import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type TableDefinition, tables } from '../stages/tables.ts';
import type { Item, ResourceName } from './resources.ts';

/** The names of a table's key attributes, the partition key first. */
export type KeySchema = readonly [string, ...string[]];

export function toKeySchema(name: ResourceName): KeySchema {
  const { partitionKey, sortKey }: TableDefinition = tables[name];
  return [partitionKey.name, ...(sortKey ? [sortKey.name] : [])];
}

export function toKey(key: KeySchema, item: Item): Item {
  return Object.fromEntries(key.map((name) => [name, item[name] as AttributeValue]));
}

/** The same text for the same key. */
export function toKeyText(key: KeySchema, item: Item): string {
  return JSON.stringify(key.map((name) => item[name]?.N ?? item[name]?.S));
}
