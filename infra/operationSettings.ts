import type { OperationId } from '../shared/contract/operations.ts';
import type { TableName } from './tables.ts';

/** What an operation's function gets on every stage; `stages.ts` has what differs. */
export interface OperationSettings {
  readonly timeoutSeconds: number;
  /** The tables that it uses besides the API keys, with all that it may do there. */
  readonly access: Partial<Record<TableName, readonly DynamoDbAction[]>>;
}

export type DynamoDbAction = `dynamodb:${'GetItem' | 'UpdateItem' | 'Query' | 'Scan'}`;

// The gateway gives up on a buffered answer after 29 seconds: fail first, and say why in the log.
const timeoutSeconds = 28;

export const operationSettings: Record<OperationId, OperationSettings> = {
  listInventory: { timeoutSeconds: 120, access: { inventory: ['dynamodb:Scan'] } },
  updateInventory: {
    timeoutSeconds,
    access: { inventory: ['dynamodb:UpdateItem', 'dynamodb:GetItem'] },
  },
  getPet: { timeoutSeconds, access: { pets: ['dynamodb:GetItem'] } },
  listOrders: { timeoutSeconds, access: { orders: ['dynamodb:Query'] } },
};

/** All tables that an operation's function uses, the API keys included, with what it may do there. */
export function toTableAccess(operationId: OperationId): OperationSettings['access'] {
  return { ...operationSettings[operationId].access, apiKeys: ['dynamodb:GetItem'] };
}
