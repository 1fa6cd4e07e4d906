import { createRequire } from 'node:module';
import { queryObjects } from 'node:v8';
import {
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { type EngineOptions, startEmbeddedEngine } from '../../../../infra/local/engine/engine.ts';
import { createTables } from '../../../../infra/local/localTables.ts';

/*
 * Tells how many iterators of its store an embedded engine keeps of 20 scans and 20 queries that are over, half
 * of the scans whole: with its data in memory, and in the folder that is named. A process of its own, since counting
 * walks its whole heap.
 */
const [dir = ''] = process.argv.slice(2);
const left = { memory: await countLeft({}), folder: await countLeft({ dir }) };
process.stdout.write(JSON.stringify(left));

async function countLeft(options: EngineOptions): Promise<number> {
  const engine = await startEmbeddedEngine(options);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'local', credentials });
  await createTables(client);
  for (const petId of ['1', '2', '3']) {
    const Item = { p: { N: petId }, q: { N: '1' }, s: { S: 'a' } };
    await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
  }
  const before = countIterators();
  for (let times = 0; times < 20; times += 1) {
    await client.send(new ScanCommand({ TableName: 'inventory', Limit: times % 2 === 0 ? 2 : 9 }));
    await client.send(
      new QueryCommand({
        TableName: 'orders',
        KeyConditionExpression: 'ledger = :ledger',
        ExpressionAttributeValues: { ':ledger': { S: 'orders' } },
      }),
    );
  }
  const left = countIterators() - before;
  client.destroy();
  await engine.close();
  return left;
}

/** How many iterators of dynalite's store a collection of garbage leaves. */
function countIterators(): number {
  const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'));
  const requireOfLevel = createRequire(requireOfDynalite.resolve('level'));
  const count = queryObjects(requireOfLevel('abstract-level').AbstractValueIterator, {
    format: 'count',
  });
  return Number(count);
}
