import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { PetstoreError } from '../../../shared/client/index.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import { brokenOff, useStandIn } from './standIn.ts';

const standIn = useStandIn();

const entry = '{"petId":9223372036854775807,"quantity":1,"status":"sold","shelf":9007199254740993}';
const read = { petId: 9223372036854775807n, quantity: 1, status: 'sold', shelf: 9007199254740993n };

const toOrders = (id: number) =>
  `[{"id":${id},"petId":2,"quantity":1,"status":"placed","placedAt":"2026-11-01T09:30:00Z"}]`;
const bodyOf = { inventoryPages: `[${entry}]`, orderPages: toOrders(1), orders: toOrders(1) };

const guide =
  '<https://docs.petstore.example/deprecations.html>; rel="deprecation", </v1?cursor=x>; rel="next-year"';

/** Pages of one entry each, with links to a guide, to another list, and to the next one at another address. */
const pages = ['b%2B', 'c', undefined].map((cursor) => ({
  headers: cursor
    ? { Link: `${guide}, <https://elsewhere.example/v1?limit=1&cursor=${cursor}>; rel="next"` }
    : { Link: guide },
  body: `[${entry}]`,
}));

/** What a list gives, also before it fails. */
function readAll(list: AsyncIterable<unknown>) {
  const given: unknown[] = [];
  const read = async () => {
    for await (const one of list) given.push(one);
  };
  return { given, reading: read() };
}

describe('pages', () => {
  it.each([
    ['inventoryPages', { status: 'sold', limit: 1 }, '/v1/inventory?status=sold&limit=1', ''],
    ['orderPages', { cursor: 'a' }, '/v1/store/orders?limit=1000', '&cursor=a'],
  ] as const)('of %s are read to the last, only from the base address', async (...row) => {
    const [method, query, url, first] = row;
    standIn.responses = pages.map(({ headers }) => ({ headers, body: bodyOf[method] }));
    await Array.fromAsync<unknown>(standIn.open()[method](query));
    const urls = [`${url}${first}`, `${url}&cursor=b%2B`, `${url}&cursor=c`];
    expect(standIn.requests.map((request) => request.url)).toEqual(urls);
  });

  it('before a failure, or with a broken link, do not look like the last', async () => {
    standIn.responses = [pages[0] ?? {}, { headers: { Link: '</v1/inventory>; rel="next"' } }];
    const iteration = standIn.open().inventoryPages();
    expect((await iteration.next()).value).toMatchObject({ items: [read], next: 'b+' });
    const cause = { message: 'The next link has no cursor.' };
    await expect(iteration.next()).rejects.toMatchObject({ code: 'invalid_response', cause });
    expect(standIn.requests[0]?.url).toBe('/v1/inventory?limit=1000');
  });

  it.each([
    ['inventoryPages', ['b', 'b'], 2],
    ['orderPages', ['b', 'c', 'b'], 3],
    ['orders', ['b', 'c', 'a'], 3],
  ] as const)(
    'of %s with a cursor that repeats end with an error: %j',
    async (method, cursors, count) => {
      standIn.responses = cursors.map((cursor) => ({
        headers: { Link: `</v1?cursor=${cursor}>; rel="next"` },
        body: bodyOf[method],
      }));
      const { given, reading } = readAll(standIn.open()[method]({ cursor: 'a' }));
      const message = 'The next page was already read: the list would never end.';
      await expect(reading).rejects.toThrow(new PetstoreError('invalid_response', message));
      expect([given.length, standIn.requests.length]).toEqual([count, count]);
    },
  );

  it('of orders are also read order by order', async () => {
    const whole = pages.map(({ headers }, id) => ({ headers, body: toOrders(id) }));
    standIn.responses = [{ body: '[{"id":1,' }, ...whole];
    const orders = await Array.fromAsync(standIn.open().orders({ limit: 1 }));
    expect(orders.map(({ id }) => id)).toEqual([0n, 1n, 2n]);
    expect(standIn.requests[0]?.url).toBe('/v1/store/orders?limit=1');
  });
});

describe('a stream of the inventory', () => {
  /** Begins a list. @returns the response to continue */
  function begin(body: string | Uint8Array): Promise<ServerResponse> {
    return new Promise((resolve) => {
      standIn.responses = [(response) => void response.write(body, () => resolve(response))];
    });
  }

  it('gives entries as they arrive, ids exact and unknown members kept', async () => {
    const started = begin(`[${entry},${entry},${entry.slice(0, 20)}`);
    const stream = standIn.open().streamInventory({ status: 'sold' });
    expect(standIn.requests).toEqual([]);
    expect(await stream.next()).toEqual({ value: read, done: false });
    expect(await stream.next()).toEqual({ value: read, done: false });
    (await started).end(`${entry.slice(20)}]`);
    expect(await stream.next()).toEqual({ value: read, done: false });
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    expect(standIn.requests.map(({ url }) => url)).toEqual(['/v1/inventory?status=sold']);
  });

  it('is right also if a chunk ends within a character', async () => {
    const bytes = Buffer.from(`[${entry},${entry.replace('}', ',"name":"猫"}')}]`);
    const started = begin(bytes.subarray(0, -5));
    const stream = standIn.open().streamInventory();
    await stream.next();
    (await started).end(bytes.subarray(-5));
    expect((await stream.next()).value).toEqual({ ...read, name: '猫' });
  });

  it.each([
    ['by a broken connection', brokenOff(`[${entry},${entry}`), 1],
    ['behind an entry', brokenOff(`[${entry}`), 0],
    ['cleanly, by a proxy', { body: `[${entry},${entry},` }, 2],
    ['before it begins', { body: '' }, 0],
  ] as const)(
    'that ends early %s throws incomplete_list after its entries',
    async (_, response, count) => {
      standIn.responses = [response];
      const { given, reading } = readAll(standIn.open().streamInventory());
      await expect(reading).rejects.toMatchObject({ code: 'incomplete_list', status: 200 });
      expect(given).toEqual(Array(count).fill(read));
      expect(standIn.requests).toHaveLength(1);
    },
  );

  it.each([
    ['no list', '{"petId":1}', 'It is not an array.'],
    ['no JSON', '[{"petId":1,},{}]', 'JSON'],
    ['nothing before a comma', '[,{}]', 'JSON'],
    ['nothing after a comma', '[{"petId":1,"etag":"a"},]', 'JSON'],
    ['a list that a brace ends', '[}', 'The array is closed by a brace.'],
    ['a list with something behind', '[] 1', 'Something follows the array.'],
    ['no entries', '[{"petId":"1"}]', 'Its petId is missing or invalid.'],
    ['entries without the tags asked for', `[${entry}]`, 'The tag is missing.'],
    ['entries without counts', '[{"petId":1,"status":"sold"}]', 'Its quantity is'],
  ])('of %s throws invalid_response', async (_, body, expected) => {
    standIn.responses = [{ body }];
    const reading = Array.fromAsync(standIn.open().streamInventory({ include: 'etag' }));
    const message = 'The response is not a valid listInventory response.';
    const cause = { message: expect.stringContaining(expected) };
    await expect(reading).rejects.toMatchObject({ code: 'invalid_response', message, cause });
  });

  it('is retried after a failure before its first entry', async () => {
    standIn.responses = [{ status: 503 }, { body: `[${entry}]` }];
    expect(await Array.fromAsync(standIn.open().streamInventory())).toEqual([read]);
  });

  it('ends the connection when the loop ends early', async () => {
    const started = begin(`[${entry},`);
    for await (const _ of standIn.open().streamInventory()) break;
    const response = await started;
    if (!response.closed) await once(response, 'close');
    expect(response.writableFinished).toBe(false);
  });

  it('that falls silent times out, but a slow reader does not', async () => {
    const started = begin(`[${entry},${entry},`);
    const stream = standIn.open({ timeout: 2_000 }).streamInventory();
    await onFastClock(async () => {
      await stream.next();
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      (await started).write(`${entry},`);
      await stream.next();
      expect((await stream.next()).value).toEqual(read);
      await expect(stream.next()).rejects.toMatchObject({ code: 'timeout' });
    });
  });

  it('ends with the reason of an AbortSignal', async () => {
    void begin(`[${entry},`);
    const controller = new AbortController();
    const stream = standIn.open().streamInventory({}, { signal: controller.signal });
    await stream.next();
    const next = stream.next();
    controller.abort('enough');
    await expect(next).rejects.toBe('enough');
  });
});

it('a list may have a weak tag, but its entries may not', async () => {
  const toBody = (etag: string) => `[${entry.replace('}', `,"etag":${JSON.stringify(etag)}}`)}]`;
  standIn.responses = ['"a"', 'W/"a"'].map((etag) => ({
    body: toBody(etag),
    headers: { ETag: 'W/"list"' },
  }));
  const client = standIn.open();
  const { items, etag } = await client.listInventory({ include: 'etag' });
  expect([items, etag]).toEqual([[{ ...read, etag: '"a"' }], 'W/"list"']);
  const message = expect.stringContaining('A proxy changed the ETag');
  const failure = { code: 'invalid_response', message };
  await expect(client.listInventory({ include: 'etag' })).rejects.toMatchObject(failure);
  const streaming = Array.fromAsync(client.streamInventory({ include: 'etag' }));
  await expect(streaming).rejects.toMatchObject(failure);
});

it('a 304 without If-None-Match is neither a list nor an entry', async () => {
  standIn.responses = [{ status: 304 }];
  const client = standIn.open();
  for (const call of [client.listInventory(), client.getInventoryEntry(7n)]) {
    await expect(call).rejects.toMatchObject({ code: 'invalid_response' });
  }
  expect(standIn.requests[0]?.headers).not.toHaveProperty('if-none-match');
});
