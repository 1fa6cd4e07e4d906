import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { defineKeyRegister } from '../../shared/keys/keyRegister.ts';
import { readVariable } from '../../shared/runtime/environment.ts';
import { expectError } from './expectations.ts';
import { openLocalTarget } from './localTarget.ts';
import { type ConformanceTarget, send } from './target.ts';

const update = { method: 'PATCH', body: '{"quantity":7}' };
// Most of them consume different request units.
const requests: { path: string; method?: string; body?: string; ifMatch?: string }[] = [
  {
    method: 'POST',
    path: '/inventory/adjustments',
    body: '{"adjustments":[{"petId":9,"delta":1},{"petId":11,"delta":1}]}',
  },
  { path: '/inventory/1' },
  { path: '/store/orders?limit=2' },
  { path: '/inventory?limit=3' },
  { path: '/inventory?petId=1,2,3,4,5' },
  { ...update, path: '/inventory/9' },
  { ...update, path: '/inventory/10', ifMatch: '"a"' },
];

describe('one container', () => {
  const lines: Record<string, unknown>[] = [];
  let target: ConformanceTarget;
  let register: ReturnType<typeof defineKeyRegister>;
  let keys: Awaited<ReturnType<typeof register.create>>[];
  let sent = 0;

  beforeAll(async () => {
    target = await openLocalTarget();
    vi.spyOn(console, 'info').mockImplementation((line) => void lines.push(line));
    register = defineKeyRegister(new DynamoDBClient(), readVariable('API_KEYS_TABLE'));
    const create = (_: unknown, index: number) =>
      register.create({ name: `client ${index}`, permission: index % 2 === 0 ? 'write' : 'read' });
    keys = await Promise.all(Array.from({ length: 8 }, create));
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await target?.close();
  });

  /** Sends a request, checks the key's permission and its logged name, and returns its units. */
  async function ask(
    { apiKey, record }: (typeof keys)[number],
    request: (typeof requests)[number],
  ) {
    const { method = 'GET', path, body, ifMatch } = request;
    const { keyId, name: keyName, permission } = record;
    sent += 1;
    const clientRequestId = `isolation-${sent}`;
    const { status } = await send(target, method, path, {
      apiKey,
      headers: {
        'X-Request-Id': clientRequestId,
        'Content-Type': 'application/json',
        ...(ifMatch && { 'If-Match': ifMatch }),
        ...(method === 'POST' && { 'Idempotency-Key': clientRequestId }),
      },
      ...(body && { body }),
    });
    expect(status).toBe(body && permission === 'read' ? 403 : ifMatch ? 412 : 200);
    // A streamed response ends before its line is written.
    const toLine = () => lines.find((one) => one.clientRequestId === clientRequestId);
    await expect.poll(toLine).toMatchObject({ keyId, keyName, status });
    const { readUnits, writeUnits, failedWrites = 0 } = toLine() ?? {};
    return `${permission} ${path}: ${readUnits} read, ${writeUnits} written, ${failedWrites} failed`;
  }

  test('lets each of many keys at once do what it may, and logs its own name and units', async () => {
    // Each function has now cached each key, so that no lookup adds units later.
    for (const key of keys) for (const request of requests) await ask(key, request);
    const alone = new Set<string>();
    for (const key of keys.slice(0, 2)) {
      for (const request of requests) alone.add(await ask(key, request));
    }
    // If all requests took the same units, a mix-up would not show.
    expect(new Set([...alone].map((units) => units.split(': ')[1])).size).toBeGreaterThanOrEqual(4);

    const jobs = [1, 2, 3, 4].flatMap(() =>
      keys.flatMap((key) => requests.map((request) => ask(key, request))),
    );
    for (const units of await Promise.all(jobs)) expect(alone).toContain(units);
  });

  test('gives a sale its outcome also after a rotation of its key, and another client’s key is its own', async () => {
    const petId = 3n;
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'order-1' };
    async function sell({ apiKey }: (typeof keys)[number], delta: number) {
      const body = `{"adjustments":[{"petId":${petId},"delta":${delta}}]}`;
      return send(target, 'POST', '/inventory/adjustments', { apiKey, headers, body });
    }
    const [old, , other] = keys as [(typeof keys)[number], unknown, (typeof keys)[number]];
    const first = await sell(old, -1);
    expect(first.status).toBe(200);
    const successor = await register.succeed(old.record);
    for (const key of [successor, await register.succeed(successor.record)]) {
      expectError(await sell(key, -2), 'idempotency_key_reused', 'adjustInventory');
      const again = await sell(key, -1);
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      expect(again.text).toBe(first.text);
    }
    expect((await sell(other, -1)).headers.get('Idempotent-Replayed')).toBeNull();
  });
});
