import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../shared/contract/errors.ts';
import { adjustInventory } from '../../../shared/contract/operations/adjustInventory.ts';
import { getInventoryEntry } from '../../../shared/contract/operations/getInventoryEntry.ts';
import { listOrders } from '../../../shared/contract/operations/listOrders.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';
import { countFailedWrite, countUnits } from '../../../shared/runtime/requestUnits.ts';
import { call, defineHandlerSettings, useLogs, withKey } from './callHandler.ts';

const logs = useLogs();
const key = mintApiKey();
const { apiKey, keyId } = key;

/** A handler with its own cache of keys, as in a container, that returns its log line. */
function defineLogged(act: () => unknown = () => {}) {
  const { settings } = defineHandlerSettings('read', key, 1);
  const handler = defineHandler(getInventoryEntry, settings, async () => {
    await act();
    return { body: {} };
  });
  return async (headers: Record<string, string[]> = {}) => {
    logs.info.mockClear();
    await call(handler, { headers: { ...withKey(apiKey), ...headers } });
    expect(logs.info).toHaveBeenCalledOnce();
    return logs.info.mock.calls[0]?.[0];
  };
}

describe('the log line of a request', () => {
  it('has the caller, operation, outcome, duration and cost', async () => {
    const log = defineLogged(async () => {
      await setTimeout(20);
      countUnits('read', 0.5);
      countUnits('write', 2);
    });
    const line = await log();
    expect(line).toEqual({
      operation: 'getInventoryEntry',
      requestId: 'request-1',
      status: 200,
      milliseconds: expect.any(Number),
      readUnits: 1.5,
      keyReadUnits: 1,
      writeUnits: 2,
      keyId,
      keyName: 'test',
    });
    expect(line.milliseconds).toBeGreaterThanOrEqual(19);
    expect(line.milliseconds).toBeLessThan(60_000);
  });

  it('has the key lookup’s part of the read units, if there was a lookup', async () => {
    const log = defineLogged(() => countUnits('read', 0.5));
    expect(await log()).toMatchObject({ readUnits: 1.5, keyReadUnits: 1 });
    const cached = await log();
    expect(cached).toMatchObject({ readUnits: 0.5 });
    expect(cached).not.toHaveProperty('keyReadUnits');
    const unknown = await log(withKey(mintApiKey('0123456789').apiKey));
    expect(unknown).toMatchObject({ status: 401, readUnits: 1, keyReadUnits: 1 });
  });

  it('counts failed conditional writes and their units', async () => {
    const log = defineLogged(() => {
      countUnits('write', 1);
      countFailedWrite(1);
      countFailedWrite(1);
    });
    expect(await log()).toMatchObject({ writeUnits: 3, failedWrites: 2 });
  });

  const busy = () => Promise.reject(new StoreUnavailable(new Error('throttled')));
  const one = defineHandlerSettings('read', key).settings;
  const noKeys = { ...one, verifier: defineKeyVerifier({ get: busy }) };
  it.each([
    ['an operation on a pet', defineHandler(getInventoryEntry, one, busy), '/inventory/7'],
    ['a list', defineHandler(listOrders, one, busy), undefined],
    [
      'a request whose key is not known yet',
      defineHandler(getInventoryEntry, noKeys, busy),
      undefined,
    ],
  ])('has the checked path if the store is busy, for %s', async (_, handler, path) => {
    await call(handler, { headers: withKey(apiKey) });
    const [line] = logs.info.mock.lastCall ?? [];
    expect({ status: line.status, path: line.path }).toEqual({ status: 503, path });
  });

  it('has the pets of an adjustment if the store is busy', async () => {
    const { settings } = defineHandlerSettings('write', key);
    const headers = { ...withKey(apiKey), 'Idempotency-Key': ['order-1'] };
    const adjustments = [7, 9].map((petId) => ({ petId, delta: -1 }));
    const event = { pathParameters: null, body: JSON.stringify({ adjustments }) };
    await call(defineHandler(adjustInventory, settings, busy), { headers, event });
    expect(logs.info.mock.lastCall?.[0]).toMatchObject({ status: 503, petIds: '7 9' });
    const done = defineHandler(adjustInventory, settings, async () => ({ body: { entries: [] } }));
    await call(done, { headers, event });
    expect(logs.info.mock.lastCall?.[0]).toMatchObject({ status: 200 });
    expect(logs.info.mock.lastCall?.[0]).not.toHaveProperty('petIds');
  });

  const unknown = mintApiKey('0123456789').apiKey;
  const noCredentials = { status: 401, refused: 'no bearer credentials', keyId: undefined };
  const malformed = { ...noCredentials, refused: 'malformed key' };

  it.each<[string[], object]>([
    [[`Bearer   ${apiKey}`], { status: 200, keyId }],
    [['Basic dXNlcjpwYXNzd29yZA=='], noCredentials],
    [[`xBearer ${apiKey}`], noCredentials],
    [[`Bearer ${apiKey}\nx`], noCredentials],
    [['Bearer  '], noCredentials],
    [['Basic x', `Bearer ${apiKey}`], noCredentials],
    [[`Bearer ${apiKey}`, 'Bearer x'], malformed],
    [['Bearer nonsense'], malformed],
    [[`Bearer ${unknown}`], { status: 401, refused: 'unknown key', keyId: '0123456789' }],
    [[`Bearer ${mintApiKey(keyId).apiKey}`], { status: 401, refused: 'wrong secret', keyId }],
  ])('has the key id, and the reason of a refusal: %#', async (Authorization, expected) => {
    const { refused, status, ...line } = await defineLogged()({ Authorization });
    expect({ refused, status, keyId: line.keyId }).toMatchObject(expected);
    expect(JSON.stringify(line)).not.toMatch(/psk_|nonsense|dXNl/);
  });

  it.each([
    [['shop-7.a_B'], true],
    [['x'.repeat(64)], true],
    [['x'.repeat(65)], false],
    [['a\nb'], false],
    [[''], false],
    [['a', 'b'], false],
  ])('has the client’s own request id if it is a plain one: %j', async (lines, has) => {
    const line = await defineLogged()({ 'X-Request-Id': lines });
    expect(line).toMatchObject({ status: 200, requestId: 'request-1' });
    expect(line.clientRequestId).toBe(has ? lines[0] : undefined);
  });

  it.each(['retry-', '%'])(
    'cuts an API key in the client’s own request id, after %j',
    async (before) => {
      const line = await defineLogged()({ 'X-Request-Id': [before + apiKey] });
      const isPlain = before !== '%';
      expect(line.clientRequestId).toBe(isPlain ? `${before}psk_${keyId}…` : undefined);
    },
  );
});
