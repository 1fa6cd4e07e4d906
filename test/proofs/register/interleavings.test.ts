import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Call, Database, Reply } from './database.ts';
import { explore, type Kind } from './explore.ts';

it.each([
  [70, 'updates', ['200', '404', '412', '503', 'killed']],
  // Each of these makes twice as many calls.
  [30, 'adjustments', ['200', '404', '409', '422', '503', 'killed']],
] as const)(
  'finds nothing wrong in %i schedules of %s',
  async (count, kind, ends) => {
    const { problems, calls, attempts } = await explore({ kind, count, seed: 1 });
    expect([...problems]).toEqual([]);
    expect(Object.keys(calls)).toHaveLength(7);
    expect(Math.min(...Object.values(calls))).toBeGreaterThan(4);
    expect(Object.keys(attempts)).toEqual(ends);
  },
  180_000,
);

type Execute = (database: Database, call: Call) => Promise<Reply>;

/** The problems of a database that executes calls otherwise, up to the one that is looked for. */
async function findProblem(
  kind: Kind,
  problem: string,
  execute: Execute,
  changes: Partial<Database> = {},
): Promise<string[]> {
  const { problems } = await explore(
    { kind, count: 60, seed: 101 },
    (schedule) => schedule.problems.includes(problem),
    (database) => ({ ...database, ...changes, execute: (call) => execute(database, call) }),
  );
  return [...problems.keys()];
}

/** Lets a write take effect on any item that exists. */
function weaken(write: Call['parameters'], key: string): Call['parameters'] {
  const ConditionExpression = `${write.ConditionExpression} OR attribute_exists(${key})`;
  return { ...write, ConditionExpression };
}

it.each<[string, Execute, string, Partial<Database>?]>([
  [
    'a condition without the version',
    (database, { action, parameters }) =>
      database.execute({
        action,
        parameters: action === 'UpdateItem' ? weaken(parameters, 'p') : parameters,
      }),
    'If-Match was ignored.',
  ],
  [
    'an effect that is acknowledged and forgotten',
    async (database, call) =>
      call.action === 'UpdateItem'
        ? { status: 200, body: { Attributes: { s: { S: 'a' } } } }
        : database.execute(call),
    'A 200 has no effect.',
  ],
  [
    'a 412 after a lost response',
    (database, call) => database.execute(call),
    'An update with a 412 has an effect.',
    { hidesAttempts: true },
  ],
])('finds %s', async (_, execute, problem, changes) => {
  expect(await findProblem('updates', problem, execute, changes)).toContain(problem);
});

type Writes = NonNullable<Call['parameters']['TransactItems']>;

/** Changes the writes of each transaction. */
function change({ action, parameters }: Call, toWrites: (writes: Writes) => Writes): Call {
  const { TransactItems } = parameters;
  if (!TransactItems) return { action, parameters };
  return { action, parameters: { ...parameters, TransactItems: toWrites(TransactItems) } };
}

const setNothing = ({ Update, ...others }: Writes[number]) =>
  Update ? { Update: { ...Update, UpdateExpression: 'SET d = :delta, v = :version' } } : others;
const setTwice = ({ Update, ...others }: Writes[number]) => {
  if (!Update) return others;
  const { ':delta': delta, ...values } = Update.ExpressionAttributeValues ?? {};
  const twice = { ':delta': { N: String(2 * Number(delta?.N)) } };
  return { Update: { ...Update, ExpressionAttributeValues: { ...values, ...twice } } };
};
const putElsewhere = ({ Put, ...others }: Writes[number]) =>
  Put ? { Put: { ...Put, Item: { ...Put.Item, r: { S: randomUUID() } } } } : others;

it.each<[string, Execute, string]>([
  [
    'a row without its entry',
    (database, call) => database.execute(change(call, (writes) => writes.map(setNothing))),
    'An effect is not what the request asks for.',
  ],
  [
    'an entry without its row',
    (database, call) => database.execute(change(call, (writes) => writes.map(putElsewhere))),
    'A key has two effects.',
  ],
  [
    'one of two pets',
    (database, call) =>
      database.execute(
        change(call, (writes) =>
          writes.map((write, index) => (index === 1 ? setNothing(write) : write)),
        ),
      ),
    'An effect is not what the request asks for.',
  ],
  [
    'a delta that is applied twice',
    (database, call) => database.execute(change(call, (writes) => writes.map(setTwice))),
    'An effect is not what the request asks for.',
  ],
  [
    'a retry that is applied again',
    (database, call) =>
      database.execute(
        change(call, (writes) =>
          writes.map(({ Put, ...others }) => (Put ? { Put: weaken(Put, 'r') } : others)),
        ),
      ),
    'A key has two effects.',
  ],
  [
    'a sale after a refusal under the same key',
    async (database, call) =>
      call.action === 'PutItem' && call.parameters.TableName === 'requests'
        ? { status: 200, body: {} }
        : database.execute(call),
    'A refused request has an effect.',
  ],
])('finds %s', async (_, execute, problem) => {
  expect(await findProblem('adjustments', problem, execute)).toContain(problem);
});
