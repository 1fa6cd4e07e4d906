import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { writeBundle } from '../../support/bundles.ts';
import type { Fault } from '../../support/faults/faults.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { keepLogs } from '../../support/keepLogs.ts';
import { expectSuccess } from '../expectations.ts';
import { fixtures } from '../fixtures.ts';
import { openLocalTarget } from '../localTarget.ts';
import { sendValid } from '../requests.ts';
import type { ConformanceTarget } from '../target.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-cold-'));
beforeAll(async () => {
  for (const id of operationIds) await writeBundle(id, join(folder, 'built', id));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Milliseconds that a cold start may be held up by a database that does not answer, and some for the machine. */
const PATIENCE = 1_000 + 1_000;

interface ColdStage {
  readonly target: ConformanceTarget;
  /** The longest that one of the functions took to start. */
  readonly milliseconds: number;
  /** What the functions asked for while they started, and what they logged. */
  readonly calls: ReadonlyMap<string, number>;
  readonly logged: readonly string[];
}

const opened: ConformanceTarget[] = [];
afterEach(async () => {
  for (const target of opened.splice(0)) await target.close();
});

/** A stage whose functions are the built bundles, started while the database is as `spoil` leaves it. */
async function startCold(
  logs: readonly string[],
  spoil: (store: FaultyEndpoint) => Promise<void> | void,
): Promise<ColdStage> {
  const engine = await startEmbeddedEngine({});
  const store = await startFaultyEndpoint(engine.endpoint);
  const fresh = mkdtempSync(join(folder, 'stage-'));
  const calls = new Map<string, number>();
  const logged: string[] = [];
  let milliseconds = 0;
  // One after the other, as each has a container of its own.
  let turn: Promise<unknown> = Promise.resolve();
  const start = async (id: string) => {
    cpSync(join(folder, 'built', id), join(fresh, id), { recursive: true });
    await store.heal();
    await spoil(store);
    const before = logs.length;
    const started = performance.now();
    const module = await import(
      /* @vite-ignore */ pathToFileURL(join(fresh, id, 'index.mjs')).href
    );
    milliseconds = Math.max(milliseconds, performance.now() - started);
    for (const [action, count] of store.calls) calls.set(action, (calls.get(action) ?? 0) + count);
    logged.push(...logs.slice(before));
    await store.heal();
    return module;
  };
  const target = await openLocalTarget({
    data: fixtures,
    startEngine: async () => ({
      endpoint: store.endpoint,
      async close() {
        await store.close();
        await engine.close();
      },
    }),
    loadHandler(id) {
      turn = turn.then(() => start(id));
      return turn;
    },
  });
  opened.push(target);
  return { target, milliseconds, calls, logged };
}

async function expectService(target: ConformanceTarget): Promise<void> {
  for (const id of operationIds) expectSuccess(await sendValid(target, id), id);
}

describe('a cold start', () => {
  const logs = keepLogs();

  test('makes the calls of one request of each function, changes nothing and logs nothing', async () => {
    const { target, calls, logged } = await startCold(logs, () => {});
    // Each function's key, getPet's pet, and the entry that an update would have found.
    expect(Object.fromEntries(calls)).toEqual({ GetItem: 6, UpdateItem: 1, Query: 1, Scan: 1 });
    expect(logged).toEqual([]);
    const list = await sendValid(target, 'listInventory');
    expect(list.json()).toHaveLength(fixtures.inventory.length);
    await expectService(target);
  });

  test.each<[string, (store: FaultyEndpoint) => Promise<void> | void]>([
    ['refuses connections', (store) => store.refuse()],
    ['never answers', toSpoil('hang')],
    ['throttles', toSpoil('throttled')],
    ['fails', toSpoil('internalServerError')],
    ['breaks connections', toSpoil('reset')],
    ['has no such table', toSpoil('resourceNotFound')],
    ['takes the credentials for expired', toSpoil('expiredToken')],
    ['allows nothing', toSpoil('accessDenied')],
  ])(
    'while the database %s is short, logs one error, and leaves a function that works',
    async (_, spoil) => {
      const { target, milliseconds, logged } = await startCold(logs, spoil);
      expect(milliseconds).toBeLessThan(PATIENCE);
      expect(logged).toHaveLength(operationIds.length);
      for (const line of logged) {
        expect(line).toContain("requestId: 'warm-up'");
        expect(line).not.toMatch(/operation:|status:|psk_/);
      }
      await expectService(target);
    },
  );
});

function toSpoil(fault: Fault): (store: FaultyEndpoint) => void {
  return (store) => store.fail({ fault });
}
