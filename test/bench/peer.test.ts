import { createRequire } from 'node:module';
import type { Writable } from 'node:stream';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { parseJson, toJson } from '../../shared/contract/values.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineFreshFunctions, openLocalTarget } from '../conformance/localTarget.ts';
import { changeableEntry } from '../conformance/operations/operationSuite.ts';
import { sendValid } from '../conformance/operations/suites.ts';
import { type ConformanceTarget, send, sendUpdate } from '../conformance/target.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';
import { type BenchedId, benchedIds, buildPeer } from './buildBundles.ts';

// The benchmarks compare the service with this peer, so it must do the same.
const { folder } = openTemporaryFolder();
let target: ConformanceTarget;
beforeAll(async () => {
  const bundles = await buildPeer(folder);
  const require = createRequire(import.meta.url);
  const loadFresh = defineFreshFunctions();
  // The document describes the service; the peer does not follow all of it.
  const { onResponse: _, ...opened } = await openLocalTarget({
    loadModule: async (id) =>
      Object.hasOwn(bundles, id)
        ? { handler: toGatewayHandler(id, require(bundles[id as BenchedId]).handler) }
        : loadFresh(id),
  });
  target = opened;
});
afterAll(() => target?.close());

test.each(benchedIds)(
  "the benchmarks' peer returns %s with JSON, and an unknown key with 401",
  async (id) => {
    const response = await sendValid(target, id);
    expect(`${response.status} ${response.text}`).toMatch(/^200 [[{]/);
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(response.headers.get('X-Request-Id')).toMatch(/^[\w-]{8,}$/);
    expect((await sendValid(target, id, { apiKey: mintApiKey().apiKey })).status).toBe(401);
  },
);

test("the benchmarks' peer reads and writes the same data", async () => {
  const { inventory, pets, orders, changeablePetId: petId, missingPetId } = target.fixtures;
  const listed = parseJson((await send(target, 'GET', '/inventory')).text) as unknown[];
  expect(listed.map(toJson).sort()).toEqual(inventory.map(toJson).sort());
  const { status, quantity } = changeableEntry(target.fixtures);
  const updated = await sendUpdate(target, petId, '{"quantity":41}');
  expect(updated.text).toBe(toJson({ petId, quantity: 41, status }));
  await sendUpdate(target, petId, `{"quantity":${quantity}}`);
  expect((await sendUpdate(target, missingPetId, '{"quantity":41}')).status).toBe(404);
  for (const pet of pets) {
    const response = await send(target, 'GET', `/pets/${pet.id}`);
    expect(response.json()).toStrictEqual(parseJson(toJson(pet)));
  }
  const response = await send(target, 'GET', '/store/orders');
  expect(response.json()).toStrictEqual(parseJson(toJson(orders)));
});

type PeerHandler = (
  event: APIGatewayProxyEvent,
  context: unknown,
) => Promise<APIGatewayProxyResult>;

/** Lets the peer return a buffered response where the gateway expects a stream. */
function toGatewayHandler(operationId: OperationId, handler: PeerHandler) {
  if (!operations[operationId].streamed) return handler;
  return async (event: APIGatewayProxyEvent, stream: Writable, context: unknown) => {
    const { statusCode, headers, body } = await handler(event, context);
    awslambda.HttpResponseStream.from(stream, { statusCode, headers }).end(body);
  };
}
