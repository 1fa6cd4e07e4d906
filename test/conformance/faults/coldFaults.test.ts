import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { writeBundles } from '../../support/bundles.ts';
import type { Silence } from '../../support/faults/blackHole.ts';
import { type Certificate, makeCertificate } from '../../support/faults/certificate.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import type { FaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { keepLogs } from '../../support/keepLogs.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { expectError, expectSuccess } from '../expectations.ts';
import { openFaultyStage, toStoreCalls } from '../localTarget.ts';
import { sendValid } from '../operations/suites.ts';
import { type ConformanceTarget, fixtures } from '../target.ts';

type Handler = (...args: unknown[]) => Promise<unknown>;
type Spoil = (store: FaultyEndpoint) => Promise<void> | void;

const { folder } = openTemporaryFolder();
let files: Record<OperationId, string>;
beforeAll(async () => {
  files = await writeBundles(folder);
});
let starts = 0;

/** Milliseconds that a silent database may delay a cold start, and more for a busy machine. */
const TIMEOUT = 1_000 + 7_000;

const opened: ConformanceTarget[] = [];
afterEach(async () => {
  for (const target of opened.splice(0)) await target.close();
});

const logs = keepLogs();

/**
 * Opens a stage with the built bundles as functions. They start while the database is as `spoil` makes it; then it
 * is healed. `identity` makes the database speak TLS.
 */
async function open(spoil: Spoil, identity?: Certificate) {
  const require = createRequire(import.meta.url);
  let timeLeft: number | undefined;

  /** @returns the time that all warm-ups took, with their calls and log lines */
  async function start(store: FaultyEndpoint) {
    starts += 1;
    // Loads the code behind Lambda's entry file anew, so that only the warm-ups are timed.
    for (const id of operationIds) {
      const code = require.resolve(join(files[id], '../function.cjs'));
      delete require.cache[code];
      require(code);
    }
    await store.heal();
    await spoil(store);
    const before = logs.length;
    const started = performance.now();
    const modules = operationIds.map(async (id) => {
      const front = `${pathToFileURL(files[id])}?start=${starts}`;
      return [id, (await import(/* @vite-ignore */ front)).handler] as const;
    });
    const handlers = new Map<string, Handler>(await Promise.all(modules));
    const milliseconds = performance.now() - started;
    const found = { milliseconds, calls: new Map(store.calls), logged: logs.slice(before) };
    await store.heal();
    return { handlers, ...found };
  }

  let starting: ReturnType<typeof start> | undefined;
  const target = await openFaultyStage(fixtures, undefined, identity, (store) => async (id) => {
    starting ??= start(store);
    const handler = (await starting).handlers.get(id);
    return {
      async handler(...args: unknown[]) {
        const context = args.pop() as Context;
        const left = timeLeft ?? context.getRemainingTimeInMillis();
        return handler?.(...args, { ...context, getRemainingTimeInMillis: () => left });
      },
    };
  });
  opened.push(target);
  /** From now on, each request has so many milliseconds, instead of the function's timeout. */
  const setTimeLeft = (milliseconds?: number) => {
    timeLeft = milliseconds;
  };
  return { target, setTimeLeft, ...(await (starting ?? start(target.store))) };
}

function expectBoundedStart({ milliseconds, logged }: Awaited<ReturnType<typeof open>>): void {
  expect(milliseconds).toBeLessThan(TIMEOUT);
  expect(logged).toHaveLength(operationIds.length);
  for (const line of logged) {
    expect(line).toContain("requestId: 'warm-up'");
    expect(line).not.toMatch(/operation:|status:|psk_/);
  }
}

async function expectService(
  target: ConformanceTarget,
  ids: readonly OperationId[] = operationIds,
): Promise<void> {
  for (const id of ids) expectSuccess(await sendValid(target, id), id);
}

const failWith =
  (fault: Parameters<FaultyEndpoint['fail']>[0]['fault']): Spoil =>
  (store) =>
    store.fail({ fault });

describe('a cold start', () => {
  test('makes the calls of one request for each function, changes nothing and logs nothing', async () => {
    const { target, calls, logged } = await onFastClock(() => open(() => {}), 1);
    // Each function's key lookup and its own call, and a read of the entry by the update. Without an Idempotency-Key,
    // an adjustment makes no call of its own.
    const own = operationIds
      .filter((id) => id !== 'adjustInventory')
      .map((id) => toStoreCalls(id).action);
    const expected = [...operationIds.map(() => 'GetItem'), ...own, 'GetItem'];
    const made = [...calls].flatMap(([action, count]) => Array(count).fill(action));
    expect(made.sort()).toEqual(expected.sort());
    expect(logged).toEqual([]);
    const list = await sendValid(target, 'listInventory');
    expect(list.json()).toHaveLength(fixtures.inventory.length);
    await expectService(target);
  });

  test.each<[string, Spoil]>([
    ['refuses connections', (store) => store.refuse()],
    ['never responds', failWith('hang')],
    ['says that the credentials have expired', failWith('expiredToken')],
  ])('while the database %s is short, logs one error, and leaves a working function', (_, spoil) =>
    onFastClock(async () => {
      const stage = await open(spoil);
      expectBoundedStart(stage);
      await expectService(stage.target);
    }),
  );

  describe('while TLS connections fall silent', () => {
    const identity = makeCertificate();
    const trusted = getCACertificates();
    beforeAll(() => setDefaultCACertificates([identity.cert]));
    afterAll(() => setDefaultCACertificates(trusted));

    test.each<[string, Silence]>([
      ['before they are made', 'connection'],
      ['before their handshake', 'handshake'],
    ])('%s is short, logs one error, and leaves a working function', (_, silence) =>
      onFastClock(async () => {
        const spoil: Spoil = (store) => store.swallow(silence);
        const stage = await open(spoil, identity);
        const { target } = stage;
        expectBoundedStart(stage);
        // The first request of some functions finds the database back, that of others does not.
        await expectService(target, ['getInventoryEntry', 'listOrders']);

        await spoil(target.store);
        stage.setTimeLeft(2_000);
        const sent = performance.now();
        const gone = ['listInventory', 'updateInventory'] as const;
        const responses = await Promise.all(gone.map((id) => sendValid(target, id)));
        for (const response of responses) expectError(response, 'service_unavailable');
        expect(performance.now() - sent).toBeLessThan(TIMEOUT);

        await target.store.heal();
        stage.setTimeLeft();
        await expectService(target);
      }),
    );
  });
});
