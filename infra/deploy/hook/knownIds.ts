import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { readVariable } from '../../../shared/runtime/environment.ts';
import { type KnownIds, readableTables, resourceTables } from '../../gateway/probes.ts';
import { tables } from '../../stages/tables.ts';

/**
 * The id of an item of each table that clients can read, and a line for each table that cannot be read.
 * @param explainEmpty returns a line for a table that should have items
 */
export async function findIds(
  client: DynamoDBClient,
  explainEmpty: (tableName: string) => Promise<string | undefined> = async () => undefined,
): Promise<{ ids: KnownIds; problems: string[] }> {
  const ids: Record<string, string> = {};
  const find = async (table: keyof typeof resourceTables) => {
    const tableName = readVariable(tables[table].variable);
    const { path, id: attribute } = resourceTables[table];
    try {
      const id = await findId(client, tableName, attribute);
      if (id === undefined) return await explainEmpty(tableName);
      ids[path] = id;
      return undefined;
    } catch (error) {
      return `The table ${tableName} cannot be read: ${describeReason(error)}`;
    }
  };
  const problems = await Promise.all(readableTables.map(find));
  return { ids, problems: problems.filter((problem) => problem !== undefined) };
}

async function findId(client: DynamoDBClient, TableName: string, id: string) {
  const input = { TableName, ProjectionExpression: id, Limit: 1 };
  for await (const { Items: [item] = [] } of paginateScan({ client }, input)) {
    if (item?.[id]?.N) return item[id].N;
  }
  return undefined;
}

export function describeReason(error: unknown): string {
  const { name, message } = error as Error;
  return name === 'Error' ? message : `${name}: ${message}`;
}
