import type { OperationId } from '../shared/contract/operations.ts';
import type { TableName } from './tables.ts';

/** What an operation's function gets on AWS. */
export interface OperationSettings {
  /** Memory; a function's share of a CPU grows with it, up to one whole CPU at 1769 MB. */
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  /** The tables that it uses besides the API keys, with all that it may do there. */
  readonly access: Partial<Record<TableName, readonly DynamoDbAction[]>>;
}

export type DynamoDbAction = `dynamodb:${'GetItem' | 'UpdateItem' | 'Query' | 'Scan'}`;

// One item or page is mostly waiting, which costs by the memory held; less memory than this would
// stretch the cold start by more than it saves.
const memoryMegabytes = 512;
// The gateway gives up on a buffered answer after 29 seconds: fail first, and say why in the log.
const timeoutSeconds = 28;

export const operationSettings: Record<OperationId, OperationSettings> = {
  listInventory: {
    // A long list is work for the CPU: twice the memory takes half the time, at the same cost.
    memoryMegabytes: 1024,
    timeoutSeconds: 120,
    access: { inventory: ['dynamodb:Scan'] },
  },
  updateInventory: {
    memoryMegabytes,
    timeoutSeconds,
    access: { inventory: ['dynamodb:UpdateItem', 'dynamodb:GetItem'] },
  },
  getPet: { memoryMegabytes, timeoutSeconds, access: { pets: ['dynamodb:GetItem'] } },
  listOrders: { memoryMegabytes, timeoutSeconds, access: { orders: ['dynamodb:Query'] } },
};

/** All tables that an operation's function uses, the API keys included, with what it may do there. */
export function toTableAccess(operationId: OperationId): OperationSettings['access'] {
  return { ...operationSettings[operationId].access, apiKeys: ['dynamodb:GetItem'] };
}
