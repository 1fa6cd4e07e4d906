import { describe, expect, it } from 'vitest';
import { PetstoreError } from '../../../shared/client/index.ts';
import { brokenOff, useStandIn } from './standIn.ts';

const standIn = useStandIn();

const entry = '{"petId":9223372036854775807,"quantity":1,"status":"sold","shelf":9007199254740993}';
const read = { petId: 9223372036854775807n, quantity: 1, status: 'sold', shelf: 9007199254740993n };

const toOrders = (id: number) =>
  `[{"id":${id},"petId":2,"quantity":1,"status":"placed","placedAt":"2026-11-01T09:30:00Z"}]`;
const guide =
  '<https://docs.petstore.example/deprecations.html>; rel="deprecation", </v1?cursor=x>; rel="next-year"';

/** Pages of one entry each, with links to a guide, to another list, and to the next one at another address. */
const pages = ['b%2B', 'c', undefined].map((cursor) => ({
  headers: cursor
    ? { Link: `${guide}, <https://elsewhere.example/v1?limit=1&cursor=${cursor}>; rel="next"` }
    : { Link: guide },
  body: `[${entry}]`,
}));

describe('pages', () => {
  it('of the inventory are read to the last, only from the base URL', async () => {
    standIn.responses = [...pages];
    const query = { status: 'sold', limit: 1 } as const;
    const read = await Array.fromAsync(standIn.open().inventoryPages(query));
    expect(read.map(({ next }) => next)).toEqual(['b+', 'c', undefined]);
    const urls = ['', '&cursor=b%2B', '&cursor=c'].map(
      (cursor) => `/v1/inventory?status=sold&limit=1${cursor}`,
    );
    expect(standIn.requests.map(({ url }) => url)).toEqual(urls);
  });

  it('with a broken link do not look like the last', async () => {
    standIn.responses = [{ headers: { Link: '</v1/inventory>; rel="next"' } }];
    const cause = { message: 'The next link has no cursor.' };
    const reading = standIn.open().inventoryPages().next();
    await expect(reading).rejects.toMatchObject({ code: 'invalid_response', cause });
    expect(standIn.requests[0]?.url).toBe('/v1/inventory?limit=1000');
  });

  it('of orders are also read order by order', async () => {
    const whole = pages.map(({ headers }, id) => ({ headers, body: toOrders(id) }));
    standIn.responses = [{ body: '[{"id":1,' }, ...whole];
    const orders = await Array.fromAsync(standIn.open().orders({ cursor: 'a' }));
    expect(orders.map(({ id }) => id)).toEqual([0n, 1n, 2n]);
    const url = '/v1/store/orders?limit=1000&cursor=';
    const urls = ['a', 'a', 'b%2B', 'c'].map((cursor) => url + cursor);
    expect(standIn.requests.map((request) => request.url)).toEqual(urls);
  });

  it.each([
    [['b', 'b'], 2],
    [['b', 'c', 'a'], 3],
  ])('with a cursor that repeats end with an error: %j', async (cursors, count) => {
    standIn.responses = cursors.map((cursor) => ({
      headers: { Link: `</v1?cursor=${cursor}>; rel="next"` },
      body: toOrders(1),
    }));
    const given: unknown[] = [];
    const reading = async () => {
      for await (const order of standIn.open().orders({ cursor: 'a' })) given.push(order);
    };
    const message = 'The next page was already read: the list would never end.';
    await expect(reading()).rejects.toThrow(new PetstoreError('invalid_response', message));
    expect([given.length, standIn.requests.length]).toEqual([count, count]);
  });
});

describe('a list of the inventory', () => {
  it('is right also if a chunk ends within a character, and may have a weak tag', async () => {
    const bytes = Buffer.from(`[${entry},${entry.replace('}', ',"name":"猫"}')}]`);
    standIn.responses = [
      (response) => {
        response.writeHead(200, { ETag: 'W/"list"' }).write(bytes.subarray(0, -5));
        setTimeout(() => response.end(bytes.subarray(-5)), 20);
      },
    ];
    const { items, etag } = await standIn.open().listInventory();
    expect([items, etag]).toEqual([[read, { ...read, name: '猫' }], 'W/"list"']);
  });

  it.each([
    ['by a broken connection', brokenOff(`[${entry},${entry}`)],
    ['before it begins', { body: '' }],
  ] as const)('that ends early %s throws incomplete_list', async (_, response) => {
    standIn.responses = [response];
    const reading = standIn.open({ maxRetries: 0 }).listInventory();
    await expect(reading).rejects.toMatchObject({ code: 'incomplete_list', status: 200 });
  });

  it.each([
    ['no list', '{"petId":1}', 'It is not a list.'],
    ['no JSON', '[{"petId":1,},{}]', 'JSON'],
    ['a list with something behind', '[] 1', 'JSON'],
    ['no entries', '[{"petId":"1"}]', 'Its petId is missing or invalid.'],
    ['entries without the tags asked for', `[${entry}]`, 'The tag is missing.'],
  ])('of %s throws invalid_response', async (_, body, expected) => {
    standIn.responses = [{ body }];
    const reading = standIn.open().listInventory({ include: 'etag' });
    const message = 'The response is not a valid listInventory response.';
    const cause = { message: expect.stringContaining(expected) };
    await expect(reading).rejects.toMatchObject({ code: 'invalid_response', message, cause });
  });
});

it('a 304 without If-None-Match is neither a list nor an entry', async () => {
  standIn.responses = [{ status: 304 }];
  const client = standIn.open();
  for (const call of [client.listInventory(), client.getInventoryEntry(7n)]) {
    await expect(call).rejects.toMatchObject({ code: 'invalid_response' });
  }
  expect(standIn.requests[0]?.headers).not.toHaveProperty('if-none-match');
});
