import { BatchExecuteStatementCommand, type BatchStatementError } from '@aws-sdk/client-dynamodb';
import type { Item } from './resources.ts';
import { retry, Unprocessed } from './retry.ts';
import type { TableAccess } from './tableWriter.ts';

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html */
const passing = new Set([
  'InternalServerError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'ThrottlingError',
  'TransactionConflict',
]);

/** Inserts at most 25 items where there are none, and returns how many were inserted. */
export function defineInsert(table: TableAccess): (batch: readonly Item[]) => Promise<number> {
  return async function insert(batch) {
    let inserted = 0;
    let rest = batch;
    await retry(async () => {
      const Statements = rest.map((item) => toStatement(table.tableName, item));
      const { Responses = [] } = await table.client.send(
        new BatchExecuteStatementCommand({ Statements }),
      );
      inserted += Responses.filter(({ Error: failure }) => failure === undefined).length;
      rest = rest.filter((_, index) => mustRepeat(Responses[index]?.Error));
      if (rest.length > 0) throw new Unprocessed();
    }, table);
    return inserted;
  };
}

/** @throws {Error} when repeating the statement would not help */
function mustRepeat(failure: BatchStatementError | undefined): boolean {
  if (failure === undefined || failure.Code === 'DuplicateItem') return false;
  if (passing.has(String(failure.Code))) return true;
  throw new Error(`DynamoDB refused an item: ${failure.Code}: ${failure.Message}`);
}

function toStatement(tableName: string, item: Item) {
  const members = Object.keys(item).map((name) => `'${name}': ?`);
  return {
    Statement: `INSERT INTO "${tableName}" VALUE {${members.join(', ')}}`,
    Parameters: Object.values(item),
  };
}
