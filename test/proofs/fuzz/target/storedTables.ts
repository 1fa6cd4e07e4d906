import {
  type AttributeValue,
  BatchGetItemCommand,
  DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';

type Attributes = Record<string, AttributeValue>;

/** The stage's tables, read past the service. */
export interface StoredTables {
  /** The inventory's entries that the stage was filled with, by petId. */
  readEntries(): Promise<ReadonlyMap<string, Attributes>>;
  /** The ids of all entries, and all that is in the tables that no operation writes into. */
  readOthers(): Promise<unknown>;
  close(): void;
}

/** @param petIds of the inventory, at most 100 */
export function openStoredTables(endpoint: string, petIds: readonly string[]): StoredTables {
  const client = new DynamoDBClient({ endpoint });
  const Keys = petIds.map((petId) => ({ p: { N: petId } }));

  async function scan(TableName: string): Promise<Attributes[]> {
    const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
    return Items;
  }

  return {
    async readEntries() {
      // A batch, since the embedded engine keeps some memory of each scan.
      const { Responses } = await client.send(
        new BatchGetItemCommand({ RequestItems: { inventory: { Keys, ConsistentRead: true } } }),
      );
      return new Map(Responses?.inventory?.map((entry) => [entry.p?.N ?? '', entry]));
    },
    async readOthers() {
      const ids = (await scan('inventory')).map(({ p }) => p?.N).sort();
      return [ids, await scan('pets'), await scan('orders'), await scan('apiKeys')];
    },
    close: () => client.destroy(),
  };
}
