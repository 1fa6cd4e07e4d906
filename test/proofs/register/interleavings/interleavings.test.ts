import { expect, it } from 'vitest';
import type { Call, Database, Reply } from './database.ts';
import { explore } from './explore.ts';

it('finds nothing wrong in a hundred and fifty schedules', async () => {
  const { problems, calls, attempts } = await explore({ count: 150, seed: 1 });
  expect([...problems]).toEqual([]);
  expect(Object.keys(calls)).toHaveLength(7);
  expect(Math.min(...Object.values(calls))).toBeGreaterThan(15);
  expect(Object.keys(attempts)).toEqual(['200', '404', '412', '422', '503', 'killed']);
}, 180_000);

/** Lets one write in a transaction take effect on any item that exists. */
function weaken({ action, parameters }: Call, kind: 'Put' | 'Update', key: string): Call {
  const TransactItems = parameters.TransactItems?.map(({ [kind]: write, ...other }) => {
    const ConditionExpression = `${write?.ConditionExpression} OR attribute_exists(${key})`;
    return write ? { [kind]: { ...write, ConditionExpression } } : other;
  });
  return { action, parameters: { ...parameters, ...(TransactItems && { TransactItems }) } };
}

it.each<[string, (database: Database, call: Call) => Promise<Reply>, string]>([
  [
    'that ignores the request’s row',
    (database, call) => database.execute(weaken(call, 'Put', 'r')),
    'A request has two effects.',
  ],
  [
    'that ignores the entry',
    (database, call) => database.execute(weaken(call, 'Update', 'p')),
    'If-Match was ignored.',
  ],
  [
    'that acknowledges and forgets',
    async (database, call) =>
      call.action === 'TransactWriteItems' ? { status: 200, body: {} } : database.execute(call),
    'A 200 has no effect.',
  ],
])('finds a database %s', async (_, execute, problem) => {
  const { problems } = await explore({ count: 40, seed: 1 }, undefined, (database) => {
    return { ...database, execute: (call) => execute(database, call) };
  });
  expect([...problems.keys()]).toContain(problem);
});
