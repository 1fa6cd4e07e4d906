import { BatchGetItemCommand, type KeysAndAttributes } from '@aws-sdk/client-dynamodb';
import { toKey, toKeyText } from './keySchema.ts';
import type { Item } from './resources.ts';
import { retry, Unprocessed } from './retry.ts';
import type { TableAccess } from './tableWriter.ts';

/**
 * Which of at most 100 items the table has, as key texts. It may miss one that was written just now,
 * so the write itself has to be conditional.
 */
export async function readExistingKeys(
  table: TableAccess,
  items: readonly Item[],
): Promise<Set<string>> {
  const { client, tableName, key } = table;
  const found = new Set<string>();
  const names = Object.fromEntries(key.map((name, index) => [`#k${index}`, name]));
  let asked: KeysAndAttributes | undefined = {
    Keys: items.map((item) => toKey(key, item)),
    ProjectionExpression: Object.keys(names).join(', '),
    ExpressionAttributeNames: names,
  };
  await retry(async () => {
    const answer = await client.send(
      new BatchGetItemCommand({ RequestItems: asked && { [tableName]: asked } }),
    );
    for (const item of answer.Responses?.[tableName] ?? []) found.add(toKeyText(key, item));
    asked = answer.UnprocessedKeys?.[tableName];
    if (asked?.Keys?.length) throw new Unprocessed();
  }, table);
  return found;
}
