import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import type { TableAccess } from './stageSettings.ts';
import { operationSettings } from './stages.ts';
import type { TableName } from './tables.ts';

/** All tables that an operation's function uses, the API keys included, with what it may do there. */
export function toTableAccess(operationId: OperationId): TableAccess {
  return { ...operationSettings[operationId].access, apiKeys: ['dynamodb:GetItem'] };
}

/** The names of those tables. */
export function toUsedTables(operationId: OperationId): TableName[] {
  return Object.keys(toTableAccess(operationId)) as TableName[];
}

/** Every kind of call that the functions make to a table. */
export function toTableCalls(table: TableName): string[] {
  const transaction = 'TransactWriteItems';
  // Written together with its entry, and by nothing else.
  if (table === 'requests') return [transaction];
  const actions = operationIds.flatMap((id) => toTableAccess(id)[table] ?? []);
  const calls = [...new Set(actions)].map((action) => action.replace('dynamodb:', ''));
  return table === 'inventory' ? [...calls, transaction] : calls;
}
