import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseJson, toJson } from '../../shared/contract/values.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineFreshFunctions, openLocalTarget } from '../conformance/localTarget.ts';
import { changeableEntry } from '../conformance/operations/inventoryEntry.ts';
import { sendValid } from '../conformance/operations/suites.ts';
import { type ConformanceTarget, send, sendUpdate } from '../conformance/target.ts';
import { type BenchedId, benchedIds, buildPeer } from './buildBundles.ts';
import { toGatewayHandler } from './contenders/toGatewayHandler.ts';

/** That the peer of the benchmarks does the same as the service: otherwise it would be no comparison. */
describe("the benchmarks' peer", () => {
  const outdir = mkdtempSync(join(tmpdir(), 'petstore-peer-'));
  let target: ConformanceTarget;
  beforeAll(async () => {
    const bundles = await buildPeer(outdir);
    const require = createRequire(import.meta.url);
    const loadFresh = defineFreshFunctions();
    const { onResponse: _, ...opened } = await openLocalTarget({
      loadHandler: async (id) =>
        Object.hasOwn(bundles, id)
          ? toGatewayHandler(id, require(bundles[id as BenchedId]).handler)
          : loadFresh(id),
    });
    // The document speaks of the service; the peer has less to say.
    target = opened;
  });
  afterAll(async () => {
    await target?.close();
    rmSync(outdir, { recursive: true, force: true });
  });

  test.each(benchedIds)('answers 200 to %s with JSON and a request id', async (operationId) => {
    const response = await sendValid(target, operationId);
    expect(`${response.status} ${response.text}`).toMatch(/^200 [[{]/);
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(response.headers.get('X-Request-Id')).toMatch(/^[\w-]{8,}$/);
  });

  test.each(benchedIds)('answers 401 to %s with a key that nobody was given', async (id) => {
    expect((await sendValid(target, id, { apiKey: mintApiKey().apiKey })).status).toBe(401);
  });

  test('lists every entry, its petId digit for digit', async () => {
    const { text } = await send(target, 'GET', '/inventory');
    const listed = (parseJson(text) as unknown[]).map(toJson);
    expect(listed.sort()).toEqual(target.fixtures.inventory.map(toJson).sort());
  });

  test('sets a quantity, leaves the status alone and creates nothing', async () => {
    const { changeablePetId: petId, missingPetId } = target.fixtures;
    const { status, quantity } = changeableEntry(target.fixtures);
    const response = await sendUpdate(target, petId, '{"quantity":41}');
    expect(response.text).toBe(toJson({ petId, quantity: 41, status }));
    await sendUpdate(target, petId, `{"quantity":${quantity}}`);
    expect((await sendUpdate(target, missingPetId, '{"quantity":41}')).status).toBe(404);
    expect((await send(target, 'GET', '/inventory')).text).not.toContain(`${missingPetId}`);
  });

  test('answers each pet as it was loaded', async () => {
    for (const pet of target.fixtures.pets) {
      const response = await send(target, 'GET', `/pets/${pet.id}`);
      expect(response.json()).toStrictEqual(parseJson(toJson(pet)));
    }
  });

  test('lists the orders, newest first', async () => {
    const response = await send(target, 'GET', '/store/orders');
    expect(response.json()).toStrictEqual(parseJson(toJson(target.fixtures.orders)));
  });
});
