/** A DynamoDB table's key, the same on AWS and on the embedded engine. */
export interface TableDefinition {
  /** The environment variable with the table's name. */
  readonly variable: string;
  readonly partitionKey: TableKey;
  readonly sortKey?: TableKey;
  /** The attribute with the time, in seconds since the epoch, after which DynamoDB deletes the item. */
  readonly timeToLive?: string;
}

interface TableKey {
  readonly name: string;
  readonly type: 'N' | 'S';
}

/** One table per resource, so that a scan of the inventory pays for the inventory alone. */
export const tables = {
  inventory: { variable: 'INVENTORY_TABLE', partitionKey: { name: 'p', type: 'N' } },
  pets: { variable: 'PETS_TABLE', partitionKey: { name: 'id', type: 'N' } },
  orders: {
    variable: 'ORDERS_TABLE',
    partitionKey: { name: 'ledger', type: 'S' },
    sortKey: { name: 'placed', type: 'S' },
  },
  requests: {
    variable: 'REQUESTS_TABLE',
    partitionKey: { name: 'p', type: 'N' },
    sortKey: { name: 'r', type: 'S' },
    timeToLive: 't',
  },
  apiKeys: { variable: 'API_KEYS_TABLE', partitionKey: { name: 'keyId', type: 'S' } },
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as TableName[];
