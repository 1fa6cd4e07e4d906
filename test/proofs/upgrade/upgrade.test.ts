import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, expect, it, vi } from 'vitest';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { startProxy } from '../../support/faults/proxy.ts';
import { entryCases, runUpgrade } from './cases.ts';

vi.spyOn(console, 'info').mockImplementation(() => {});
const data = { inventory: [], pets: [], orders: [] };
const stage = await startLocalStage({ port: 0, data, startEngine: startEmbeddedEngine });
afterAll(() => stage.close());

it.each([
  ['a listed tag is accepted once', 'if-match'],
  ['a retry has no second effect', 'idempotency-key'],
])('finds that %s, unless a release ignores %s', async (name, ignored) => {
  const { baseUrl, close } = await startProxy(stage.baseUrl, ({ headers }) => {
    delete headers[ignored];
    return 'passed';
  });
  const cases = { [name]: entryCases[name] ?? expect.unreachable() };
  const last = { ...stage, name: 'last', root: '' };
  const engine = new DynamoDBClient({});
  const [result] = await runUpgrade(cases, last, { ...last, name: 'next', baseUrl }, engine);
  close();
  expect(result).toMatchObject({ turns: 28, skipped: 0 });
  // In the other seven, the release that ignores it has no turn.
  expect(result?.problems).toHaveLength(21);
  expect(result?.problems[0]).toContain(`${name}: last, next: Expected values`);
});
