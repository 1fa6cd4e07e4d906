import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../infra/ops/aws.ts';
import { writeBundles } from '../../support/bundles.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { runFlashSale } from './flashSales.ts';
import { MAX_GROWTH, type Service, soak, startService } from './soak.ts';

const healthy = { usedBytes: 40_000_000, errorLines: [], conflicts: 0 };
const grown = { usedBytes: 40_000_000 + MAX_GROWTH + 1 };
const { folder } = openTemporaryFolder();

/** What a service that has every pet responds to a request of the soak. */
function toDocument(url = '', body = ''): unknown {
  const toEntry = (petId: unknown) => ({ petId, quantity: 6, status: 'available' });
  const [, resource, id] = /^\/v1\/(\w+)\/?(\w*)/.exec(url) ?? [];
  if (resource === 'pets') return { id: Number(id), name: 'Rex', status: 'available' };
  if (id === 'adjustments') {
    const { adjustments } = JSON.parse(body) as { adjustments: { petId: number }[] };
    return { entries: adjustments.map(({ petId }) => toEntry(petId)) };
  }
  return id && resource === 'inventory' ? toEntry(Number(id)) : [];
}

test('a soak finds memory that grows, lines of level ERROR, and failed requests', async () => {
  let count = 0;
  using served = await serve(async (request, response) => {
    count += 1;
    if (count % 10 === 0) return void response.writeHead(500).end();
    const document = JSON.stringify(toDocument(request.url, await text(request)));
    // At full speed, it would take the processors from other tests.
    setTimeout(() => response.setHeader('ETag', '"a"').end(document), 3);
  });
  const vitals = [{}, {}, { ...grown, errorLines: ['the line'] }].values();
  const ask = async () => ({ ...healthy, ...vitals.next().value });
  const first = { baseUrl: `${served.address}/v1`, apiKey: 'psk_none' };
  const { problems } = await soak({ first, ask } as never, 0.3);
  expect(problems).toEqual([
    'The memory of the functions is not flat.',
    expect.stringMatching(/^\d+ requests had no 2xx response\.$/),
    '1 lines of level ERROR, first the line',
  ]);
});

describe('a flash sale', () => {
  const sale = {
    name: '',
    buyers: 12,
    units: 3,
    carts: [
      [2n, 7n],
      [7n, 4n],
      [4n, 2n],
    ],
    conditions: { transactionsConflict: true },
    maxSeconds: 20,
  };

  let service: Service;
  beforeAll(async () => {
    service = await startService({ ...sale.conditions, bundles: await writeBundles(folder) });
  });
  afterAll(() => service?.end());

  test('sells whole carts, each unit once, although transactions conflict', async () => {
    const { problems, bought, soldOut, conflicts } = await runFlashSale(service, sale);
    expect(problems).toEqual([]);
    expect(bought + soldOut).toBe(12);
    // Of nine units, a cart takes two.
    expect([3, 4]).toContain(bought);
    expect(conflicts).toBeGreaterThan(0);
  });

  test.each([
    ['sells a unit twice', 200, ['12 bought 7, and 6 are left']],
    ['refuses what is left', 409, ['a cart was refused although all its pets are left']],
  ])('of a service that %s is a problem', async (_, status, expected) => {
    const entry = { petId: 7, quantity: 6, status: 'available' };
    const refusal = { code: 'insufficient_stock', message: 'None is left.', status };
    using served = await serve(({ method }, response) => {
      if (method !== 'POST') response.setHeader('ETag', '"a"').end(JSON.stringify(entry));
      else if (status === 200) response.end(JSON.stringify({ entries: [entry] }));
      else response.writeHead(status).end(JSON.stringify(refusal));
    });
    const first = { baseUrl: `${served.address}/v1`, apiKey: 'psk_none' };
    const service = { first, ask: async () => healthy };
    const { problems } = await runFlashSale(service as never, {
      ...sale,
      units: 6,
      carts: [[7n]],
    });
    expect(problems).toEqual(expected);
  });
});
