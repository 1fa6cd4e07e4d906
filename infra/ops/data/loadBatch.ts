import { isDeepStrictEqual } from 'node:util';
import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { toJson } from '../../../shared/contract/json.ts';
import { buildCondition, readVersion } from '../../../shared/store/inventoryRecord.ts';
import { type Entry, type Item, type Resource, resources } from '../../cli/bulk/resources.ts';
import {
  defineAddingWriter,
  defineFillingWriter,
  defineReplacingWriter,
  putIf,
  readItems,
  retry,
  type TableTarget,
} from '../../cli/bulk/tableWriters.ts';
import { type TableDefinition, tables } from '../../stages/tables.ts';
import type { OpenFile } from './dataFile.ts';
import type { defineFingerprints } from './fingerprints.ts';

/** What became of an entry of a file, or would. */
export type Outcome = 'new' | 'replaced' | 'kept' | 'unchanged';

export interface LoadOptions extends Pick<TableTarget, 'signal' | 'takeUnits'> {
  readonly overwrite: boolean;
  readonly isDryRun: boolean;
  /** The contents of an earlier export: entries that still are so are replaced. */
  readonly earlier: ReturnType<typeof defineFingerprints> | undefined;
}

/** An entry's contents as a text, without its version and the attributes that the contract does not name. */
export function toContents({ toMembers }: Resource, item: Item): string {
  return toJson(toMembers(item));
}

/**
 * A function that writes a batch of entries with different keys as the options say.
 * @returns the entries by what became of them
 */
export async function defineLoad(source: OpenFile, options: LoadOptions) {
  const table = { ...source, ...options };
  const resource: Resource = resources[source.name];
  const { partitionKey, sortKey }: TableDefinition = tables[source.name];
  const keyNames = [partitionKey, sortKey].flatMap((key) => (key ? [key.name] : []));
  const toKey = (item: Item): Item =>
    Object.fromEntries(keyNames.map((name) => [name, item[name] as AttributeValue]));
  const toKeyText = (item: Item) => JSON.stringify(toKey(item));
  const isEmpty = await findEmpty(table);
  const add = isEmpty
    ? defineFillingWriter(table, partitionKey.name)
    : defineAddingWriter(table, partitionKey.name);
  const replace = defineReplacingWriter(table);

  return async function loadBatch(entries: readonly Entry[]) {
    options.signal.throwIfAborted();
    const found = isEmpty
      ? []
      : await readItems(
          table,
          entries.map(({ item }) => toKey(item)),
        );
    const stored = new Map(found.map((item) => [toKeyText(item), item]));
    const planned: Record<Outcome, Entry[]> = { new: [], replaced: [], kept: [], unchanged: [] };
    for (const entry of entries) {
      const outcome = compare(entry, stored.get(toKeyText(entry.item)), resource, options);
      planned[outcome].push(entry);
    }
    if (!options.isDryRun) {
      const toPair = ({ item }: Entry) => [item, stored.get(toKeyText(item)) ?? {}] as const;
      const made = planned.new.map(({ item }) => item);
      const changed = new Set(await write(made, new Map(planned.replaced.map(toPair))));
      for (const outcome of ['new', 'replaced'] as const) {
        planned.kept.push(...planned[outcome].filter(({ item }) => changed.has(item)));
        planned[outcome] = planned[outcome].filter(({ item }) => !changed.has(item));
      }
    }
    return planned;
  };

  /** @returns the items that somebody made or changed since the table was read: those are kept */
  async function write(made: readonly Item[], replaced: ReadonlyMap<Item, Item>) {
    if (options.overwrite) return replace([...made, ...replaced.keys()]);
    const present = made.length > 0 ? await add(made) : [];
    const changed: Item[] = [];
    for (const [item, stored] of replaced) {
      // Only the inventory has earlier contents, and so versions.
      const { expression, values } = buildCondition(readVersion(stored), 0) ?? {};
      const condition = { ConditionExpression: expression, ExpressionAttributeValues: values };
      if (!expression || !(await putIf(table, item, condition))) changed.push(item);
    }
    return [...present, ...changed];
  }
}

/** What becomes of an entry, by the item that is stored now. */
function compare(
  { item }: Entry,
  stored: Item | undefined,
  resource: Resource,
  { overwrite, earlier }: LoadOptions,
): Outcome {
  if (!stored) return 'new';
  // Replacing an entry also removes its version, and attributes that the contract does not name.
  if (overwrite) return isDeepStrictEqual(stored, item) ? 'unchanged' : 'replaced';
  const contents = findContents(resource, stored);
  if (contents === toContents(resource, item)) return 'unchanged';
  return contents && earlier?.has(contents) ? 'replaced' : 'kept';
}

/** Nothing, for a record that is not valid. */
function findContents(resource: Resource, stored: Item): string | undefined {
  try {
    return toContents(resource, stored);
  } catch {
    return undefined;
  }
}

async function findEmpty({ client, tableName, signal }: TableTarget): Promise<boolean> {
  const scan = new ScanCommand({ TableName: tableName, ConsistentRead: true, Limit: 1 });
  const { Items = [] } = await retry(() => client.send(scan), signal);
  return Items.length === 0;
}
