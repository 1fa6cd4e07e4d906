import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Engine, startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { frontEngine } from '../cases/frontedEngine.ts';

/** Some 1 MB of records, as a page of a Scan has. */
const PAGE = 45_000;
const FIRST = -(2n ** 63n);

interface Input {
  readonly Key?: Key;
  readonly RequestItems?: { readonly inventory: { readonly Keys: readonly Key[] } };
  readonly Limit?: number;
  readonly ExclusiveStartKey?: Key;
  readonly ExpressionAttributeValues?: { readonly ':status': { readonly S: string } };
}

interface Key {
  readonly p: { readonly N: string };
}

/**
 * An embedded engine whose inventory is made up while it is read: as many entries as one likes, with
 * ids all over int64, without loading them.
 */
export async function startGeneratedInventory(entries: number): Promise<Engine> {
  const embedded = await startEmbeddedEngine();
  const step = 2n ** 64n / BigInt(entries);

  function toItem(index: number): string {
    const id = FIRST + BigInt(index) * step;
    return `{"p":{"N":"${id}"},"q":{"N":"${index % 1_000}"},"s":{"S":"${'aps'[index % 3]}"}}`;
  }

  /** That of an id; `undefined` when no entry has it. */
  function toIndex({ p }: Key): number | undefined {
    const distance = BigInt(p.N) - FIRST;
    const index = Number(distance / step);
    return distance % step === 0n && index < entries ? index : undefined;
  }

  function find(key: Key | undefined): string[] {
    const index = key && toIndex(key);
    return index === undefined ? [] : [toItem(index)];
  }

  const answers: Record<string, (input: Input) => string> = {
    GetItem: ({ Key }) => `{${find(Key).map((item) => `"Item":${item}`)}}`,
    BatchGetItem: ({ RequestItems }) =>
      `{"Responses":{"inventory":[${RequestItems?.inventory.Keys.flatMap(find)}]},"UnprocessedKeys":{}}`,
    Scan({ Limit = PAGE, ExclusiveStartKey, ExpressionAttributeValues }) {
      const start = ExclusiveStartKey ? (toIndex(ExclusiveStartKey) ?? 0) + 1 : 0;
      const end = Math.min(start + Limit, entries);
      const letter = ExpressionAttributeValues?.[':status'].S;
      const items: string[] = [];
      for (let index = start; index < end; index += 1) {
        if (letter === undefined || letter === 'aps'[index % 3]) items.push(toItem(index));
      }
      const last = { p: { N: `${FIRST + BigInt(end - 1) * step}` } };
      const next = end < entries ? `,"LastEvaluatedKey":${JSON.stringify(last)}` : '';
      return `{"Count":${items.length},"Items":[${items}],"ScannedCount":${end - start}${next}}`;
    },
  };

  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const action = String(incoming.headers['x-amz-target']).split('.')[1] ?? '';
    const toAnswer = /"(TableName|RequestItems)":(\{)?"inventory"/.test(body.toString())
      ? answers[action]
      : undefined;
    if (toAnswer) {
      outgoing.setHeader('Content-Type', 'application/x-amz-json-1.0');
      outgoing.end(toAnswer(JSON.parse(body.toString())));
      return;
    }
    const { host: _, ...headers } = incoming.headers;
    const onward = request(embedded.endpoint, { method: 'POST', headers }).end(body);
    const [response] = await once(onward, 'response');
    outgoing.writeHead(response.statusCode, response.headers);
    response.pipe(outgoing);
  });
  return frontEngine(embedded, server);
}
