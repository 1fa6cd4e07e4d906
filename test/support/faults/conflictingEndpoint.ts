import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { refusals } from './faults.ts';

/** How long a transaction occupies its items before it is written, in milliseconds. */
const HELD = 10;

/**
 * Starts an HTTP proxy before a DynamoDB endpoint whose transactions conflict, as DynamoDB's do; those of the engines
 * wait for each other. A write on an item of a transaction in progress is refused:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
 */
export async function startConflictingEndpoint(behind: string) {
  const occupied = new Set<string>();
  let conflicts = 0;

  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const action = String(incoming.headers['x-amz-target']).split('.')[1] ?? '';
    const isTransaction = action === 'TransactWriteItems';
    const items = /^(TransactWrite|Put|Update|Delete)Item/.test(action) ? toItems(body) : [];
    if (items.some((item) => occupied.has(item))) {
      conflicts += 1;
      return refusals[isTransaction ? 'transactionCanceled' : 'transactionConflict'](outgoing);
    }
    if (isTransaction) {
      for (const item of items) occupied.add(item);
      await setTimeout(HELD);
    }
    const { method = 'POST', url = '/', headers } = incoming;
    const onward = request(behind, { method, path: url, headers }, (response) => {
      response.pipe(outgoing.writeHead(response.statusCode ?? 500, response.headers));
      response.once('end', () => {
        if (isTransaction) for (const item of items) occupied.delete(item);
      });
    });
    onward.end(body);
  });

  return {
    endpoint: `http://127.0.0.1:${await listen(server, 0, '')}`,
    conflicts: () => conflicts,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The entries and the rows of requests that a call writes. */
function toItems(body: Buffer): string[] {
  const { TransactItems, ...write } = JSON.parse(body.toString());
  const writes = TransactItems?.flatMap(Object.values) ?? [write];
  return writes.map(({ TableName, Key, Item }: Record<string, Record<string, object>>) => {
    const { p, r } = Key ?? Item ?? {};
    return JSON.stringify([TableName, p, r]);
  });
}
