import { describe, expect, it } from 'vitest';
import { engines } from '../../../support/engines.ts';
import { exactFetch } from '../../../support/exactFetch.ts';
import { useStoreTables } from '../../../support/storeTables.ts';
import { explore } from './explore.ts';
import { type Call, type Database, defineMemoryDatabase, type Reply } from './memoryDatabase.ts';

describe.each(engines)('the memory database', ({ name, start }) => {
  const tables = useStoreTables(start);

  it(`replies to twenty schedules as ${name} does`, async () => {
    let petId = 100;
    await explore({ count: 20, seed: 1 }, undefined, () => {
      petId += 1;
      return mirror(tables.engine().endpoint, petId);
    });
  });
});

/** The memory database, whose every reply must be the engine's, which has an entry of its own for it. */
function mirror(endpoint: string, petId: number): Database {
  const database = defineMemoryDatabase();
  return {
    ...database,
    async execute(call) {
      const reply = await database.execute(call);
      expect(toComparable(await send(endpoint, petId, call))).toEqual(toComparable(reply));
      return reply;
    },
  };
}

async function send(endpoint: string, petId: number, { action, parameters }: Call): Promise<Reply> {
  const { status, text } = await exactFetch(`${endpoint}/`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `DynamoDB_20120810.${action}`,
      'X-Amz-Date': '20260101T000000Z',
      Authorization:
        'AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(parameters).replaceAll('"N":"7"', `"N":"${petId}"`),
  });
  return {
    status,
    body: JSON.parse(text.replaceAll(`"N":"${petId}"`, '"N":"7"')),
  };
}

/** Without units and texts. */
function toComparable({ status, body }: Reply) {
  const { __type, Item, Attributes, CancellationReasons } = body as Record<string, never>;
  const reasons = (CancellationReasons as Reply['body'][] | undefined)?.map(({ Code, Item }) => ({
    Code,
    Item,
  }));
  return { status, type: String(__type).split('#').at(-1), Item, Attributes, reasons };
}
