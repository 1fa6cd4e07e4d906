import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';

/**
 * What looking a pet up costs without gateway, functions and keys: HTTP, the SDK and the engine.
 * @returns its origin
 */
export async function startFloorServer(): Promise<string> {
  const client = new DynamoDBClient({});
  const server = createServer(async ({ url = '' }, response) => {
    const id = url.slice(url.lastIndexOf('/') + 1);
    const lookup = new GetItemCommand({ TableName: 'pets', Key: { id: { N: id } } });
    const { Item } = await client.send(lookup);
    response.writeHead(Item ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(Item));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
