import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Permission } from '../../../shared/contract/operation.ts';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { readVariable } from '../../../shared/runtime/environment.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { openLocalTarget } from '../localTarget.ts';
import { readEntry } from '../operations/inventoryEntry.ts';
import { type ConformanceTarget, send } from '../target.ts';

interface Line {
  readonly clientRequestId?: string;
  readonly keyId?: string;
  readonly keyName?: string;
  readonly status: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly failedWrites?: number;
}

/** What a key asks for, and whether it has to be allowed to write. */
interface Kind {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly isWrite?: boolean;
}

// Each consumes other request units than the rest, and writes a row of its own.
const kinds: Record<string, Kind> = {
  pet: { method: 'GET', path: '/pets/1' },
  orders: { method: 'GET', path: '/store/orders?limit=2' },
  page: { method: 'GET', path: '/inventory?limit=3' },
  entries: { method: 'GET', path: '/inventory?petId=1,2,3,4,5' },
  update: { method: 'PATCH', path: '/inventory/9', isWrite: true },
  conflict: {
    method: 'PATCH',
    path: '/inventory/10',
    headers: { 'If-Match': '"a"' },
    isWrite: true,
  },
};

/** Past every quantity of the fixtures that may be changed here; of keys that may not write, higher still. */
const WRITTEN = 1_000;
const FORBIDDEN = 1_000_000;

describe('one container that many keys use', () => {
  const lines: Line[] = [];
  let target: ConformanceTarget;
  let keys: readonly NamedKey[];
  let sent = 0;

  beforeAll(async () => {
    target = await openLocalTarget();
    vi.spyOn(console, 'info').mockImplementation((line) => void lines.push(line));
    keys = await addNamedKeys(8);
    // Each function has met each key, so that no lookup adds to the units below.
    for (const key of keys) for (const kind of Object.keys(kinds)) await ask(key, kind);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await target?.close();
  });

  async function ask(
    key: NamedKey,
    name: string,
  ): Promise<{ response: ExactResponse; line: Line }> {
    const { method, path, headers, isWrite } = kinds[name] as Kind;
    sent += 1;
    const id = `isolation-${sent}`;
    const quantity = (key.permission === 'write' ? WRITTEN : FORBIDDEN) + sent;
    const response = await send(target, method, path, {
      apiKey: key.apiKey,
      headers: { 'X-Request-Id': id, 'Content-Type': 'application/json', ...headers },
      ...(isWrite && { body: JSON.stringify({ quantity }) }),
    });
    // A streamed answer ends before its line is written.
    const line = await vi.waitUntil(() => lines.find((one) => one.clientRequestId === id));
    return { response, line };
  }

  const statusOf = ({ permission }: NamedKey, name: string) => {
    if (kinds[name]?.isWrite && permission === 'read') return 403;
    return name === 'conflict' ? 412 : 200;
  };

  function expectOwn(
    key: NamedKey,
    name: string,
    { response, line }: Awaited<ReturnType<typeof ask>>,
  ) {
    const status = statusOf(key, name);
    expect(response.status).toBe(status);
    expect(line).toMatchObject({ keyId: key.keyId, keyName: key.name, status });
  }

  const toUnits = ({ readUnits, writeUnits, failedWrites = 0 }: Line) =>
    `${readUnits} read, ${writeUnits} written, ${failedWrites} failed`;

  test('in turn lets each do what it may, and logs its id and its name', async () => {
    for (const name of Object.keys(kinds)) {
      for (const key of keys) expectOwn(key, name, await ask(key, name));
    }
  });

  test('at once lets each do what it may, logs its id and its name, and counts its own units', async () => {
    const jobs = [0, 1, 2, 3].flatMap(() =>
      Object.keys(kinds).flatMap((name) => keys.map((key) => ({ key, name }))),
    );
    const alone = new Map<string, string>();
    for (const name of Object.keys(kinds)) {
      for (const key of keys.slice(0, 2)) {
        alone.set(`${key.permission} ${name}`, toUnits((await ask(key, name)).line));
      }
    }
    // A request that took units of another could not be told where all take the same.
    expect(new Set(alone.values()).size).toBeGreaterThanOrEqual(4);

    const answers = await Promise.all(jobs.map(({ key, name }) => ask(key, name)));
    for (const [index, answer] of answers.entries()) {
      const { key, name } = jobs[index] as (typeof jobs)[number];
      expectOwn(key, name, answer);
      expect(`${name}: ${toUnits(answer.line)}`).toBe(
        `${name}: ${alone.get(`${key.permission} ${name}`)}`,
      );
    }
  });

  test('never lets a read key write while write keys do', async () => {
    const jobs = [0, 1, 2, 3, 4].flatMap(() => keys);
    const quantities = new Set<number | undefined>();
    await Promise.all(
      jobs.map(async (key) => {
        const { response } = await ask(key, 'update');
        expect(response.status).toBe(statusOf(key, 'update'));
        quantities.add((await readEntry(target, 9n))?.quantity);
      }),
    );
    expect(quantities.size).toBeGreaterThan(1);
    for (const quantity of quantities) {
      expect(quantity).toBeGreaterThan(WRITTEN);
      expect(quantity).toBeLessThan(FORBIDDEN);
    }
  });
});

/** A key with what the log says of it. */
interface NamedKey {
  readonly apiKey: string;
  readonly keyId: string;
  readonly name: string;
  readonly permission: Permission;
}

/** Makes keys, every other one of which may write, for the local stage that runs in this process. */
async function addNamedKeys(count: number): Promise<readonly NamedKey[]> {
  const client = new DynamoDBClient();
  const register = defineKeyRegister(client, readVariable('API_KEYS_TABLE'));
  const keys = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const permission = index % 2 === 0 ? ('write' as const) : ('read' as const);
      const name = `client ${index}`;
      const { apiKey, record } = await register.create({ name, permission });
      return { apiKey, keyId: record.keyId, name, permission };
    }),
  );
  client.destroy();
  return keys;
}
