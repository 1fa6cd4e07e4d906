import type { OperationId } from '../../shared/contract/operations.ts';
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
