import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { type TableName, tables } from '../../stages/tables.ts';
import { type ReadTable, readTables } from './probes.ts';

/** The name of a table, from the environment. */
export function toTableName(table: TableName): string {
  return process.env[tables[table].variable] ?? '';
}

/** The id of one item of a table; `undefined` if it is empty. */
export async function findId(client: DynamoDBClient, table: ReadTable) {
  const { id } = readTables[table];
  const input = { TableName: toTableName(table), ProjectionExpression: id, Limit: 1 };
  for await (const { Items: [item] = [] } of paginateScan({ client }, input)) {
    if (item?.[id]?.N) return item[id].N;
  }
  return undefined;
}
