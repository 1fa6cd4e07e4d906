import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import type { Silence } from '../../support/faults/blackHole.ts';
import { makeCertificate } from '../../support/faults/certificate.ts';
import { onFastClock } from '../../support/faults/fastClock.ts';
import type { Fault } from '../../support/faults/faults.ts';
import type { FaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { keepLogs } from '../../support/keepLogs.ts';
import { expectError, expectSuccess } from '../expectations.ts';
import { fixtures } from '../fixtures.ts';
import { sendValid } from '../operations/suites.ts';
import type { ConformanceTarget } from '../target.ts';
import { buildFunctions, type ColdStage, type ColdStart, startCold } from './coldStage.ts';
import { toStoreCalls } from './faultyTarget.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-cold-'));
beforeAll(() => buildFunctions(folder), 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Milliseconds that a cold start may be held up by a database that does not answer, and more for a busy machine. */
const TIMEOUT = 1_000 + 4_000;

const opened: ColdStage[] = [];
afterEach(async () => {
  for (const { target } of opened.splice(0)) await target.close();
});

const logs = keepLogs();

async function open(start: Pick<ColdStart, 'spoil' | 'identity'>): Promise<ColdStage> {
  const stage = await startCold({ folder, logs, ...start });
  opened.push(stage);
  return stage;
}

/** That the start was short for all its trouble, and told of it in a line for each function. */
function expectBoundedStart({
  milliseconds,
  logged,
}: Pick<ColdStage, 'milliseconds' | 'logged'>): void {
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

describe('a cold start', () => {
  test('makes the calls of one request of each function, changes nothing and logs nothing', async () => {
    const { target, calls, logged } = await onFastClock(() => open({ spoil: () => {} }), 1);
    // Each function's key and its own call, and the entry that an update would have found.
    const own = operationIds.map((id) => toStoreCalls(id).action);
    const wanted = [...operationIds.map(() => 'GetItem'), ...own, 'GetItem'];
    expect([...calls].flatMap(([action, count]) => Array(count).fill(action)).sort()).toEqual(
      wanted.sort(),
    );
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
    (_, spoil) =>
      onFastClock(async () => {
        const stage = await open({ spoil });
        expectBoundedStart(stage);
        await expectService(stage.target);
      }),
  );

  describe('while connections of TLS come to nothing', () => {
    const identity = makeCertificate();
    const trusted = getCACertificates();
    beforeAll(() => setDefaultCACertificates([identity.cert]));
    afterAll(() => setDefaultCACertificates(trusted));

    test.each<[string, Silence]>([
      ['before they are made', 'connection'],
      ['before their handshake', 'handshake'],
    ])('%s is short, logs one error, and leaves a function that works', (_, silence) =>
      onFastClock(async () => {
        const spoil = (store: FaultyEndpoint) => store.swallow(silence);
        const { target, store, ...stage } = await open({ spoil, identity });
        expectBoundedStart(stage);
        // The first request of some finds the database back, that of the others still gone.
        await expectService(target, ['getPet', 'listOrders']);

        await spoil(store);
        stage.setTimeLeft(2_000);
        const sent = performance.now();
        const expectOutage = async (id: OperationId) =>
          expectError(await sendValid(target, id), 'service_unavailable', id);
        await Promise.all([expectOutage('listInventory'), expectOutage('updateInventory')]);
        expect(performance.now() - sent).toBeLessThan(TIMEOUT);

        await store.heal();
        stage.setTimeLeft(undefined);
        await expectService(target);
      }),
    );
  });
});

function toSpoil(fault: Fault): (store: FaultyEndpoint) => void {
  return (store) => store.fail({ fault });
}
