import { describe, expect, it } from 'vitest';
import { engines } from '../../../support/engines.ts';
import { exactFetch } from '../../../support/exactFetch.ts';
import { useStoreTables } from '../../../support/storeTables.ts';
import { explore } from './explore.ts';
import { type Call, type Database, defineMemoryDatabase, type Reply } from './memoryDatabase.ts';

it('nothing is wrong in three hundred schedules', async () => {
  const { problems, calls, attempts } = await explore({ count: 300, seed: 1 });
  expect([...problems]).toEqual([]);
  expect(Object.keys(calls)).toHaveLength(8);
  expect(Math.min(...Object.values(calls))).toBeGreaterThan(30);
  expect(Object.keys(attempts)).toEqual(['200', '404', '412', '503', 'killed']);
}, 180_000);

it('a seed gives its schedule again', async () => {
  const traces: unknown[] = [];
  const schedules = { count: 1, seed: 38 };
  await explore(schedules, ({ trace }) => void traces.push(trace));
  await explore(schedules, ({ trace }) => void traces.push(trace));
  expect(traces[0]).toEqual(traces[1]);
});

/** Puts another condition to a transaction's one write. */
function changeCondition(
  { action, parameters }: Call,
  kind: 'Put' | 'Update',
  ConditionExpression: string,
): Call {
  const TransactItems = parameters.TransactItems?.map((item) =>
    item[kind] ? { [kind]: { ...item[kind], ConditionExpression } } : item,
  );
  return { action, parameters: { ...parameters, ...(TransactItems && { TransactItems }) } };
}

it.each<[string, (database: Database, call: Call) => Promise<Reply>, string]>([
  [
    'that does not look at the request’s row',
    (database, call) =>
      database.execute(
        changeCondition(call, 'Put', 'attribute_exists(r) OR attribute_not_exists(r)'),
      ),
    'A request has two effects.',
  ],
  [
    'that does not look at the entry',
    (database, call) => database.execute(changeCondition(call, 'Update', 'attribute_exists(p)')),
    'If-Match was ignored.',
  ],
  [
    'that acknowledges and forgets',
    async (database, call) =>
      call.action === 'TransactWriteItems' ? { status: 200, body: {} } : database.execute(call),
    'A 200 has no effect.',
  ],
  [
    'that is out of order by itself',
    async (database, call) => ({ ...(await database.execute(call)), status: 503 }),
    'A 503 comes although no call failed.',
  ],
])('schedules find a database %s', async (_, execute, problem) => {
  const { problems } = await explore({ count: 100, seed: 1 }, undefined, () => {
    const database = defineMemoryDatabase();
    return { ...database, execute: (call) => execute(database, call) };
  });
  expect([...problems.keys()]).toContain(problem);
});

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
