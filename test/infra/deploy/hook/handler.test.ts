import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { startEmbeddedEngine } from '../../../../infra/local/engine/engine.ts';
import { defineAwslambda, setFunctionEnvironment } from '../../../../infra/local/lambdaRuntime.ts';
import { createTables, fillTables } from '../../../../infra/local/localTables.ts';
import { findTableAccess, listUsedTables } from '../../../../infra/stages/stages.ts';
import { type TableName, tables } from '../../../../infra/stages/tables.ts';
import { toErrorBody } from '../../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { fixtures } from '../../../conformance/target.ts';
import { skipPauses } from '../../../support/faults/clock.ts';
import { startFaultyEndpoint } from '../../../support/faults/faultyEndpoint.ts';
import { keepLogs } from '../../../support/keepLogs.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { defineBundle, type Load, startDeployments } from './deployments.ts';

skipPauses();

const { folder } = openTemporaryFolder();
const logs = keepLogs();
const database = await startEmbeddedEngine();
/** Between the database and the hook, and the new versions. */
const ofHook = await startFaultyEndpoint(database.endpoint);
const ofVersion = await startFaultyEndpoint(database.endpoint);
const aws = await startDeployments();
let hook: Parameters<typeof aws.deploy>[0];

beforeAll(async () => {
  defineAwslambda();
  setFunctionEnvironment(database.endpoint, 'https://docs.petstore.example');
  await fillTables(database.putItems, { data: fixtures });
  const client = new DynamoDBClient({});
  // The same tables once more, without items.
  client.middlewareStack.add(
    (next) => (args) => {
      const { TableName } = args.input as { TableName: string };
      return next({ ...args, input: { ...args.input, TableName: `empty-${TableName}` } as never });
    },
    { step: 'initialize' },
  );
  await createTables(client);
  client.destroy();
  for (const [name, value] of Object.entries(aws.variables)) vi.stubEnv(name, value);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', ofHook.endpoint);
  // The module reads its variables when it loads.
  ({ handler: hook } = await import('../../../../infra/deploy/hook/handler.ts'));
  for (const id of operationIds) aws.publish(id, 1, withVariables(id));
});
beforeEach(async () => {
  await Promise.all([ofHook.heal(), ofVersion.heal()]);
  for (const id of operationIds) aws.live.set(id, 1);
  aws.denied = '';
  aws.turnedOff.clear();
  logs.length = 0;
});
afterEach(async () => {
  // Its role may write no other keys.
  for (const { action, input } of ofHook.requests) {
    const key = action === 'PutItem' ? input.Item : input.Key;
    if (!action.match(/Put|Delete/)) continue;
    expect(key.keyId.S).toMatch(/^hook[0-9A-Za-z]{6}$/);
  }
  // No key stays, and none is in a log.
  expect((await scan('apiKeys')).map(({ name }) => name?.S)).not.toContain('deployment-hook');
  expect(logs.join('\n')).not.toMatch(/psk_\w{11}/);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  aws.close();
  client.destroy();
  await Promise.all([ofHook.close(), ofVersion.close()]);
  await database.close();
});

const client = new DynamoDBClient(database);
async function scan(TableName: string) {
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  return Items;
}

let newest = 1;
/** Deploys a version more of some functions. @returns whether it went through, and the line of its failure */
async function deploy(ids: readonly OperationId[] = operationIds, code?: Load) {
  newest += 1;
  const [first] = ids;
  if (code && first) aws.publish(first, newest, code);
  const isDone = await aws.deploy(
    hook,
    ids.map((id) => [id, newest]),
  );
  // The last attempt's, after two warnings.
  const lines = logs.filter((line) => line.includes('stopped before its first client'));
  return { isDone, line: lines.at(-1) ?? '', attempts: lines.length };
}

/** Loads the real code with other settings. */
const withVariables = (id: OperationId, variables: Record<string, string> = {}) =>
  defineBundle(folder, id, { AWS_ENDPOINT_URL_DYNAMODB: database.endpoint, ...variables });
/** Code in place of the real one. */
const withCode = (id: OperationId, code: string) => defineBundle(folder, id, {}, code);

/** A list without items; of anything else, a response that it does not exist. */
function defineEmpty(id: OperationId): string {
  if (operations[id].streamed) {
    return `export const handler = async (_, stream) =>
      awslambda.HttpResponseStream.from(stream, { statusCode: 200 }).end('[]');`;
  }
  const response = operations[id].path.includes('{')
    ? { statusCode: 404, body: JSON.stringify(toErrorBody('not_found', 'There is no such item.')) }
    : { statusCode: 200, body: '[]' };
  return `export const handler = async () => (${JSON.stringify(response)});`;
}

/** Its proof sees data. A write without preconditions has no request that does, and changes nothing. */
const seesData = (id: OperationId) => {
  const { permission, requestHeaders = [] }: Operation = operations[id];
  return permission === 'read' || requestHeaders.includes('If-Match');
};

type Row = [id: OperationId, what: string, define: () => Load, line: RegExp];

/** What no harmless request calls, and why. */
const unchecked: readonly [OperationId, TableName, action: string, why: string][] = [
  ['updateInventory', 'requests', 'PutItem', 'only release 2.0, until 3.1'],
  ['updateInventory', 'requests', 'GetItem', 'only release 2.0, until 3.1'],
  ['adjustInventory', 'inventory', 'GetItem', 'after an adjustment of one pet took effect'],
  ['adjustInventory', 'inventory', 'BatchGetItem', 'after an adjustment of several took effect'],
];

/** As IAM, refuses an action as a call of its own, and a transaction with it. */
function withoutPermission(id: OperationId, table: TableName, action: string): Load {
  const isTransacted = action === 'PutItem' || action === 'UpdateItem';
  for (const sent of isTransacted ? [action, 'TransactWriteItems'] : [action]) {
    ofVersion.fail({ table, action: sent, fault: 'accessDenied' });
  }
  return behindFaults[id];
}
/** Each is loaded once. */
const behindFaults = mapOperations((id) =>
  withVariables(id, { AWS_ENDPOINT_URL_DYNAMODB: ofVersion.endpoint }),
);

const failures = operationIds.flatMap((id): Row[] => {
  const permissions = Object.entries(findTableAccess(id)).flatMap(([table, actions]) =>
    actions.map((action) => [table, action.replace('dynamodb:', '')] as [TableName, string]),
  );
  const isWrong = / responded with (200|4\d\d|5\d\d) \(request id [\w-]{36}\): /;
  return [
    [
      id,
      'an exception at load',
      () => withCode(id, "throw new RangeError('no such setting');"),
      / failed \(request id [\w-]{36}\): RangeError: no such setting/,
    ],
    ...(seesData(id)
      ? [[id, 'always an empty response', () => withCode(id, defineEmpty(id)), isWrong] as Row]
      : []),
    ...permissions
      .filter(
        ([table, action]) =>
          !unchecked.some((one) => `${one.slice(0, 3)}` === `${[id, table, action]}`),
      )
      .map(([table, action]): Row => {
        const define = () => withoutPermission(id, table, action);
        return [id, `no permission for ${action} on ${table}`, define, / responded with 50\d /];
      }),
    ...listUsedTables(id)
      .filter((table) => table !== 'requests' && (table === 'apiKeys' || seesData(id)))
      .map((table): Row => {
        const variables = { [tables[table].variable]: `empty-${table}` };
        return [id, `another table of ${table}`, () => withVariables(id, variables), isWrong];
      }),
  ];
});

it.each(failures)('stops %s with %s before its first client', async (id, _, define, expected) => {
  const { isDone, line, attempts } = await deploy([id], define());
  expect(isDone).toBe(false);
  expect(attempts).toBe(3);
  expect([...aws.live.values()]).toEqual(operationIds.map(() => 1));
  expect(line).toContain(`${id}, version ${newest}, was stopped before its first client: `);
  expect(line).toMatch(expected);
});

it('lets every good version pass, calls each as often as it has ways to its tables, and changes no stock', async () => {
  const before = await scan('inventory');
  const outcomes = await scan('requests');
  expect(await deploy()).toMatchObject({ isDone: true, attempts: 0 });
  expect([...aws.live.values()]).toEqual(operationIds.map(() => newest));
  const counts = Map.groupBy(aws.called, (version) => version.split(':')[0]);
  expect(Object.fromEntries([...counts].map(([id, calls]) => [id, calls.length]))).toEqual({
    ...mapOperations(() => 1),
    listInventory: 4,
  });
  expect(await scan('inventory')).toEqual(before);
  const known = new Set(outcomes.map(({ r }) => r?.S));
  const added = (await scan('requests')).filter(({ r }) => !known.has(r?.S));
  expect(added.map(({ c }) => c?.S)).toEqual(['not_found']);
});

it('lets every version pass on a stage without data', async () => {
  for (const name of ['inventory', 'pets', 'orders'] as const) {
    vi.stubEnv(tables[name].variable, `empty-${name}`);
    onTestFinished(() => void vi.stubEnv(tables[name].variable, name));
  }
  for (const id of operationIds) aws.publish(id, newest + 1, withVariables(id));
  expect(await deploy()).toMatchObject({ isDone: true, attempts: 0 });
});

it('calls no version of an operation that is turned off, nor one that has served before', async () => {
  aws.turnedOff.add('getInventoryEntry');
  expect(
    (await deploy(['getInventoryEntry'], withCode('getInventoryEntry', 'throw 1;'))).isDone,
  ).toBe(true);
  expect(aws.called).toEqual([]);
  aws.turnedOff.clear();
  expect(await aws.deploy(hook, [['getInventoryEntry', 1]])).toBe(true);
  expect(aws.called).toEqual([]);
  expect(logs.join()).toMatch(/getInventoryEntry, version 1, has served before: it was not called/);
});

it('logs no secret, also of a version that throws what it was sent', async () => {
  const code =
    'export const handler = async (event) => { throw new Error(JSON.stringify(event)); };';
  const { isDone, line } = await deploy(['getInventoryEntry'], withCode('getInventoryEntry', code));
  expect(isDone).toBe(false);
  expect(line).toMatch(/ failed .*psk_/);
});

it('reads a list of any length no further than to its first item', async () => {
  const code = `import { Readable } from 'node:stream';
    function* list() {
      yield '[';
      for (;;) yield '{"petId":1,"quantity":5,"status":"sold"},'.padEnd(1e6);
    }
    export const handler = (_, stream) => new Promise((resolve) => Readable.from(list()).pipe(
      awslambda.HttpResponseStream.from(stream, { statusCode: 200 })).on('close', resolve));`;
  expect((await deploy(['listInventory'], withCode('listInventory', code))).isDone).toBe(true);
});

it.each<[string, () => void, RegExp]>([
  [
    'CodeDeploy does not name the version',
    () => Object.assign(aws, { denied: 'GetDeploymentTarget' }),
    /The deployment d-\d+ was stopped before its first client: AccessDeniedException: not allowed/,
  ],
  [
    'it may not call the version',
    () => Object.assign(aws, { denied: 'Invoke' }),
    /getInventoryEntry, version \d+, was stopped .*GET \/inventory\/\S+ failed .*: AccessDeniedException: not/,
  ],
  [
    'it can read no table',
    () => ofHook.fail({ table: 'orders', fault: 'accessDenied' }),
    /The table orders cannot be read: AccessDeniedException/,
  ],
  [
    'it can make no key',
    () => ofHook.fail({ action: 'PutItem', fault: 'internalServerError' }),
    /No key could be made for the calls: InternalServerError/,
  ],
  ['DynamoDB is down', () => ofHook.refuse(), /cannot be read: .*ECONNREFUSED/],
])('reports a failure if %s', async (_, fail, expected) => {
  await fail();
  const { isDone, line } = await deploy(['getInventoryEntry']);
  expect(isDone).toBe(false);
  expect(line).toMatch(expected);
});

it.each<[OperationId, string]>([
  ['getInventoryEntry', 'export const handler = () => new Promise(() => {});'],
  [
    'listInventory',
    'export const handler = (_, stream) => new Promise(() => void awslambda.HttpResponseStream.from(stream, {}).write("["));',
  ],
])('does not wait for a version of %s that never responds', async (id, code) => {
  const { timeout } = AbortSignal;
  const soon = (time: number) => timeout.call(AbortSignal, time === 30_000 ? 50 : time);
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation(soon);
  onTestFinished(() => spy.mockRestore());
  const { isDone, line } = await deploy([id], withCode(id, code));
  expect(isDone).toBe(false);
  expect(line).toMatch(/ failed \(request id .*\): no response within 30 seconds/);
});

it('lets a version pass at the second attempt', async () => {
  ofHook.fail({ action: 'PutItem', fault: 'accessDenied', times: 1 });
  expect(await deploy(['getInventoryEntry'])).toMatchObject({ isDone: true, attempts: 1 });
});
