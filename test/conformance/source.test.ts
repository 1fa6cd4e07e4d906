import { beforeAll, describe, expect, test } from 'vitest';
import { findResponseProblems } from '../../infra/docs/openapi/responseProblems.ts';
import { gatewayErrors } from '../../infra/gateway/gatewayErrors.ts';
import { injectedStatuses } from '../../infra/local/gateway/faultInjection.ts';
import { toErrorResponse } from '../../infra/local/gateway/messages.ts';
import { type PetstoreClient, PetstoreError } from '../../shared/client/index.ts';
import { statusOfCode } from '../../shared/contract/errorBody.ts';
import { parseApiKey } from '../../shared/keys/apiKey.ts';
import { startTestGateway } from '../infra/local/testGateway.ts';
import {
  brokenOff,
  lost,
  type StandInResponse,
  silent,
  unknownPath,
  useStandIn,
} from '../shared/client/standIn.ts';
import { testEngine } from '../support/engines.ts';
import { exactFetch } from '../support/exactFetch.ts';
import { skipBackOff } from '../support/faults/clock.ts';
import { keepLogs } from '../support/keepLogs.ts';
import { describeConformance } from './conformance.ts';
import {
  expectExplained,
  expectInGuide,
  expectSuccess,
  explainedErrors,
  metErrors,
} from './expectations.ts';
import { openFaultyStage, openLocalTarget } from './localTarget.ts';
import { sendValid } from './operations/suites.ts';
import { send } from './target.ts';

const log = keepLogs();
const secrets: string[] = [];

beforeAll(() => metErrors.clear());

describeConformance(`the handlers' source on ${testEngine.name}`, async () => {
  const target = await openLocalTarget({ startEngine: () => testEngine.start() });
  for (const apiKey of [target.apiKey, target.readOnlyApiKey]) {
    secrets.push(apiKey, parseApiKey(apiKey)?.secret ?? '');
  }
  return target;
});

describe('the log of the run above', () => {
  test('has a line for each request that reached a function', () => {
    expect(
      log.filter((line) => line.includes("operation: 'updateInventory'")).length,
    ).toBeGreaterThan(50);
    expect(log.filter((line) => line.includes("refused: 'wrong secret'"))).not.toEqual([]);
  });

  test('names keys by their key id, and holds no credential in any header', () => {
    const text = log.join('\n');
    expect(secrets).toHaveLength(4);
    for (const secret of secrets) expect(text).not.toContain(secret);
    // Nor any of the suite's invalid credentials.
    expect(text).not.toMatch(/psk_|bearer [^c]|dXNlcjpwYXNzd29yZA|eyJhbGci/i);
  });
});

describe('the guide to errors', () => {
  test.each(['throttled', 'accessDenied'] as const)('has the message after %s', async (fault) => {
    const pauses = skipBackOff();
    const target = await openFaultyStage();
    target.store.fail({ fault });
    expect((await send(target, 'GET', '/inventory')).status).toBeGreaterThanOrEqual(500);
    await target.close();
    pauses();
  });

  test('has the message after an adjustment whose read of the entries fails', async () => {
    const pauses = skipBackOff();
    const target = await openFaultyStage();
    target.store.fail({ fault: 'throttled', action: 'GetItem', table: 'inventory' });
    const { status, headers, text } = await sendValid(target, 'adjustInventory');
    expect([status, headers.get('Retry-After')]).toEqual([503, '5']);
    expect(text).toContain('The adjustment was applied');
    target.store.heal();
    const again = await sendValid(target, 'adjustInventory');
    expectSuccess(again, 'adjustInventory');
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    await target.close();
    pauses();
  });

  test('has a message for each status of --fail', () => {
    expect(injectedStatuses).toEqual([...new Set(Object.values(statusOfCode))]);
  });

  test.each(injectedStatuses)(
    'has the message of --fail %i, whose response is as in the document',
    async (status) => {
      const faults = { failures: [{ status, share: 1 }] };
      const { baseUrl, drain } = await startTestGateway({}, 1_000, faults);
      const isOfAll = [400, 401, 404, 405, 429, 500, 503].includes(status);
      const write = status === 409 ? ['POST', '/inventory/adjustments'] : ['PATCH', '/inventory/1'];
      const [method = '', path = ''] = isOfAll ? ['GET', '/inventory/1'] : write;
      const response = await exactFetch(baseUrl + path, { method });
      await drain();
      // Its functions would return 501.
      expect(response.status).toBe(status);
      expectInGuide(response);
      // The document has no methods that a path does not allow.
      if (status === 405) expect(response.headers.get('Allow')).toBe('GET, OPTIONS');
      else expect(findResponseProblems(method, path, response)).toEqual([]);
    },
  );

  test.each(Object.entries(gatewayErrors))('has the gateway’s message for %s', (_, error) => {
    const { statusCode: status, headers, body } = toErrorResponse(error, 'request-1');
    expect(headers).toBeDefined();
    expectInGuide({ status, text: String(body) });
  });

  const standIn = useStandIn();
  const repeated = { headers: { Link: '</v1?cursor=a>; rel="next"' }, body: '[]' };
  const readTwice = (client: PetstoreClient) => Array.fromAsync(client.orders({ cursor: 'a' }));
  const call = (response: StandInResponse, timeout?: number, baseUrl = standIn.baseUrl) => {
    standIn.responses = [response];
    return standIn.open({ baseUrl, maxRetries: 0, ...(timeout && { timeout }) });
  };

  test.each<[string, () => Promise<unknown>]>([
    ['an invalid count', () => call({}).updateInventory(7n, { quantity: -1 })],
    ['an invalid id', () => call({}).getInventoryEntry(7 as never)],
    ['a closed port', () => call({}, undefined, 'http://127.0.0.1:2/v1').getInventoryEntry(7n)],
    ['a lost connection', () => call(lost).getInventoryEntry(7n)],
    ['a truncated response', () => call(brokenOff('{"petId":')).getInventoryEntry(7n)],
    ['a truncated list', () => call(brokenOff('[{"petId":')).listInventory()],
    ['a timeout', () => call(silent, 20).getInventoryEntry(7n)],
    ['another document', () => call({ body: '{}' }).getInventoryEntry(7n)],
    [
      'a weak tag',
      () =>
        call({
          body: '{"petId":7,"quantity":3,"status":"sold"}',
          headers: { ETag: 'W/"AAAACQBh"' },
        }).getInventoryEntry(7n),
    ],
    ['a page that repeats', () => readTwice(call(repeated))],
    ['a redirect', () => call({ status: 302 }).getInventoryEntry(7n)],
    ['an unknown path', () => call(unknownPath).getInventoryEntry(7n)],
    ['another server’s error', () => call({ status: 502, body: '<html>' }).getInventoryEntry(7n)],
  ])('has the client’s message for %s', async (_, reject) => {
    const error = await reject().catch((cause) => cause);
    if (!(error instanceof PetstoreError)) throw error;
    expectExplained(error.code, error.message);
  });

  test('has no message that nothing above got', () => {
    expect(explainedErrors.filter((error) => !metErrors.has(error))).toEqual([]);
  });
});
