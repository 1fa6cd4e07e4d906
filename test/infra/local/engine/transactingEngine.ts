import {
  DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { startEmbeddedEngine } from '../../../../infra/local/engine/engine.ts';
import { createTables } from '../../../../infra/local/localTables.ts';

/*
 * Writes to the engine in the named folder: each transaction puts the same 25 ids into two tables, first into one and
 * then into the other. It prints the first of the ids once the transaction is acknowledged. With 5 of them
 * acknowledged and others under way, it kills itself as soon as it sees the first item of the next one.
 */
const WRITERS = 3;
const IDS = 25;

const [dir = ''] = process.argv.slice(2);
const { endpoint } = await startEmbeddedEngine({ dir });
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const client = new DynamoDBClient({ endpoint, region: 'local', credentials });
await createTables(client);
let nextId = 0;
let acknowledged = 0;
await Promise.all(Array.from({ length: WRITERS }, writeIds));

async function writeIds(): Promise<never> {
  for (;;) {
    const first = nextId;
    nextId += IDS;
    const ids = Array.from({ length: IDS }, (_, index) => ({ N: String(first + index) }));
    const TransactItems = [
      ...ids.map((p) => ({ Put: { TableName: 'inventory', Item: { p } } })),
      ...ids.map((id) => ({ Put: { TableName: 'pets', Item: { id } } })),
    ];
    await client.send(new TransactWriteItemsCommand({ TransactItems }));
    process.stdout.write(`${first}\n`);
    acknowledged += 1;
    if (acknowledged === 5) void killOnceSeen(String(nextId));
  }
}

async function killOnceSeen(N: string): Promise<void> {
  for (;;) {
    const command = new GetItemCommand({ TableName: 'inventory', Key: { p: { N } } });
    const { Item } = await client.send(command);
    if (Item) process.kill(process.pid, 'SIGKILL');
  }
}
