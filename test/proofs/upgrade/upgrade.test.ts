import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, expect, it, vi } from 'vitest';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { findTableAccess } from '../../../infra/stages/stages.ts';
import { startProxy } from '../../support/faults/proxy.ts';
import { entryCases, runUpgrade } from './cases.ts';
import { type DatabaseCall, findForbiddenCalls } from './forbiddenCalls.ts';

vi.spyOn(console, 'info').mockImplementation(() => {});
const data = { inventory: [], pets: [], orders: [] };
const stage = await startLocalStage({ port: 0, data, startEngine: startEmbeddedEngine });
afterAll(() => stage.close());

it.each([
  ['a tag is accepted once, of a response, of a list and of an entry read alone', 'if-match', '*'],
  ['an adjustment has one effect', 'idempotency-key', randomUUID],
])('finds that %s, unless a release ignores %s', async (name, ignored, other) => {
  const { baseUrl, close } = await startProxy(stage.baseUrl, ({ headers }) => {
    if (headers[ignored]) headers[ignored] = typeof other === 'string' ? other : other();
    return 'passed';
  });
  const cases = { [name]: entryCases[name] ?? expect.unreachable() };
  const last = { ...stage, name: 'last', root: '' };
  const engine = new DynamoDBClient({});
  const [result] = await runUpgrade(cases, last, { ...last, name: 'next', baseUrl }, engine);
  close();
  expect(result?.turns).toBe(24);
  // In the other six, the release that ignores it has no turn.
  expect(result?.problems).toHaveLength(18);
  expect(result?.problems[0]).toContain(`${name}: last, next: Expected values`);
});

it('finds a call that a role forbids, alone, in a batch and in a transaction', () => {
  const [TableName, RequestItems] = ['requests', { inventory: {} }];
  const calls: Pick<DatabaseCall, 'action' | 'input'>[] = [
    { action: 'GetItem', input: { TableName: 'apiKeys' } },
    { action: 'GetItem', input: { TableName } },
    { action: 'BatchGetItem', input: { RequestItems } },
    {
      action: 'TransactWriteItems',
      input: { TransactItems: [{ Put: { TableName } }, { ConditionCheck: { TableName } }] },
    },
  ];
  const find = (operationId: DatabaseCall['operationId']) =>
    findForbiddenCalls(
      calls.map((one) => ({ ...one, operationId })),
      findTableAccess,
    );
  expect(find('adjustInventory')).toEqual([
    'the role of adjustInventory forbids GetItem on requests',
    'the role of adjustInventory forbids ConditionCheckItem on requests',
  ]);
  // Until 3.1, also what release 2.0 calls.
  expect(find('updateInventory')).toEqual([
    'the role of updateInventory forbids BatchGetItem on inventory',
    'the role of updateInventory forbids ConditionCheckItem on requests',
  ]);
});
