import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { injectedStatuses } from '../../../infra/local/gateway/faultInjection.ts';
import { toErrorResponse } from '../../../infra/local/gateway/messages.ts';
import { type PetstoreClient, PetstoreError } from '../../../shared/client/index.ts';
import { httpMethods } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { startTestGateway } from '../../infra/local/testGateway.ts';
import {
  brokenOff,
  lost,
  type StandInResponse,
  silent,
  useStandIn,
} from '../../shared/client/standIn.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { useNoBackOff } from '../../support/faults/clock.ts';
import { explainedErrors, findExplained, toTold } from '../expectations.ts';
import { type FaultyTarget, openFaultyStage } from '../localTarget.ts';
import { suites } from '../operations/suites.ts';
import { send, sendUpdate } from '../target.ts';

/** The guide's messages that requests have got, as the guide writes them. */
const met = new Set<string>();

function meet(code: string | undefined, message: string): void {
  const found = findExplained(code, message);
  expect(found, `${code}: ${message}`).toBeDefined();
  met.add(`${code}: ${found}`);
}

describe('the guide to errors', () => {
  let target: FaultyTarget;
  useNoBackOff();
  beforeAll(async () => {
    target = Object.assign(await openFaultyStage(), { onResponse: undefined });
  });
  afterAll(() => target?.close());

  async function ask(line: string, sending: Parameters<typeof send>[3] = {}): Promise<void> {
    const [method = '', path = ''] = line.split(' ');
    const response = await send(target, method, path, sending);
    expect(response.status).toBeGreaterThanOrEqual(400);
    const { code, message } = toTold(response);
    meet(code, message);
  }

  const update = async (body: string | Uint8Array, headers?: Record<string, string>, id = '') => {
    const petId = id || target.fixtures.changeablePetId;
    const { code, message } = toTold(await sendUpdate(target, petId, body, headers));
    meet(code, message);
  };

  test('has the messages about every parameter', async () => {
    for (const { path, method, ...row } of Object.values(operations)) {
      if (path.includes('{')) await ask(`${method} ${path.replace(/\{\w+\}/, 'abc')}`);
      for (const name of Object.keys('query' in row ? row.query : {})) {
        await ask(`${method} ${path}?${name}=`);
        await ask(`${method} ${path}?${name}=&${name}=`);
      }
      for (const [one, other] of 'exclusive' in row ? row.exclusive : []) {
        await ask(`${method} ${path}?${one}=1&${other}=1`);
      }
    }
  });

  test('has the messages about a body and its headers', async () => {
    const bodies = ['', '{', '[]', '{}', '{"Quantity":5}', '{"a":1,"b":2}', '{"quantity":-1}'];
    for (const body of bodies) await update(body);
    await update(Buffer.from('{"x":"\xe9"}', 'latin1'));
    await update('{"quantity":5}', { 'If-Match': 'AAAACQBh' });
    await update('{"quantity":5}', { 'If-Match': '"AAAACQBh"' });
    await update('{"quantity":5}', { 'Idempotency-Key': ' ' });
    await update('{"quantity":5}', { 'Content-Type': 'text/plain' });
    const { changeablePetId } = target.fixtures;
    await sendUpdate(target, changeablePetId, '{"quantity":5}', { 'Idempotency-Key': 'order-1' });
    await update('{"quantity":6}', { 'Idempotency-Key': 'order-1' });
    await update('{"quantity":5}', {}, `${target.fixtures.missingPetId}`);
    for (const megabytes of [7, 11]) await update(' '.repeat(megabytes * 1024 ** 2));
  });

  test('has the messages about keys, paths, methods and a failing database', async () => {
    await ask('GET /inventory', { apiKey: null });
    await ask('GET /inventory', { apiKey: 'psk_not-a-key' });
    await ask('PATCH /inventory/1', { apiKey: target.readOnlyApiKey, body: '{"quantity":5}' });
    await ask(`GET /pets/${target.fixtures.missingPetId}`);
    await ask('GET /nothing');
    for (const id of operationIds) {
      const same = Object.values(operations).filter(({ path }) => path === operations[id].path);
      const method = httpMethods.find((one) => same.every((row) => row.method !== one));
      await ask(`${method} ${suites[id].toValidRequest(target).path}`);
    }
    for (const fault of ['throttled', 'accessDenied'] as const) {
      target.store.fail({ fault });
      await ask('GET /inventory');
      target.store.heal();
    }
  });

  test.each(injectedStatuses)('has the message of --fail %i', async (status) => {
    const faults = { failures: [{ status, share: 1 }] };
    const { baseUrl, drain } = await startTestGateway({}, 1_000, faults);
    const { code, message } = toTold(await exactFetch(`${baseUrl}/inventory`));
    await drain();
    meet(code, message);
  });

  test.each(Object.entries(gatewayErrors))('has the gateway’s message for %s', (_, error) => {
    const { statusCode: status, headers, body } = toErrorResponse(error, 'request-1');
    const { code, message } = toTold({ status, text: String(body) });
    expect(headers).toBeDefined();
    meet(code, message);
  });
});

describe('the guide to the client’s errors', () => {
  const standIn = useStandIn();
  const repeated = { headers: { Link: '</v1?cursor=a>; rel="next"' }, body: '[]' };
  const readTwice = (client: PetstoreClient) => Array.fromAsync(client.orders({ cursor: 'a' }));
  const call = (response: StandInResponse, timeout?: number, baseUrl = standIn.baseUrl) => {
    standIn.responses = [response];
    return standIn.open({ baseUrl, maxRetries: 0, ...(timeout && { timeout }) });
  };

  test.each<[string, () => Promise<unknown>]>([
    ['an invalid count', () => call({}).updateInventory(7n, { quantity: -1 })],
    ['an invalid id', () => call({}).getPet(7 as never)],
    ['a closed port', () => call({}, undefined, 'http://127.0.0.1:2').getPet(7n)],
    ['a lost connection', () => call(lost).getPet(7n)],
    ['a truncated response', () => call(brokenOff('{"id":')).getPet(7n)],
    ['a truncated list', () => call(brokenOff('[{"petId":')).listInventory()],
    ['a timeout', () => call(silent, 20).getPet(7n)],
    ['another document', () => call({ body: '{}' }).getPet(7n)],
    ['a page that repeats', () => readTwice(call(repeated))],
    ['a redirect', () => call({ status: 302 }).getPet(7n)],
    ['another server’s error', () => call({ status: 502, body: '<html>' }).getPet(7n)],
  ])('has the message for %s', async (_, reject) => {
    const error = await reject().catch((cause) => cause);
    if (!(error instanceof PetstoreError)) throw error;
    meet(error.code, error.message);
  });
});

test('some request gets each message in the guide to errors', () => {
  const all = explainedErrors.map(({ code, message }) => `${code}: ${message}`);
  expect([...met].sort()).toEqual(all.sort());
});
