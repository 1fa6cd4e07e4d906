import { expect, it } from 'vitest';
import { explore } from './explore.ts';
import { type Call, type Database, defineMemoryDatabase, type Reply } from './memoryDatabase.ts';

it('finds nothing wrong in three hundred schedules', async () => {
  const { problems, calls, attempts } = await explore({ count: 300, seed: 1 });
  expect([...problems]).toEqual([]);
  expect(Object.keys(calls)).toHaveLength(7);
  expect(Math.min(...Object.values(calls))).toBeGreaterThan(30);
  expect(Object.keys(attempts)).toEqual(['200', '404', '412', '422', '503', 'killed']);
}, 180_000);

/** Replaces the condition of one write in a transaction. */
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
    'that ignores the request’s row',
    (database, call) =>
      database.execute(
        changeCondition(call, 'Put', 'attribute_exists(r) OR attribute_not_exists(r)'),
      ),
    'A request has two effects.',
  ],
  [
    'that ignores the entry',
    (database, call) => database.execute(changeCondition(call, 'Update', 'attribute_exists(p)')),
    'If-Match was ignored.',
  ],
  [
    'that acknowledges and forgets',
    async (database, call) =>
      call.action === 'TransactWriteItems' ? { status: 200, body: {} } : database.execute(call),
    'A 200 has no effect.',
  ],
])('finds a database %s', async (_, execute, problem) => {
  const { problems } = await explore({ count: 100, seed: 1 }, undefined, () => {
    const database = defineMemoryDatabase();
    return { ...database, execute: (call) => execute(database, call) };
  });
  expect([...problems.keys()]).toContain(problem);
});
