import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Order, sellOrder } from '../../../../shared/client/examples/orders.ts';
import { createPetstoreClient } from '../../../../shared/client/index.ts';
import { parseJson } from '../../../../shared/contract/json.ts';
import { type Fate, type ForeignResponse, startProxy } from '../../../support/faults/proxy.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { type ConformanceTarget, fixtures, sendUpdate } from '../../target.ts';
import { installed, runSeller, type Seller } from './sellers.ts';

/** Each concurrent test has its own pet. */
const [petId = 0n, ...more] = fixtures.inventory
  .filter(({ status }) => status === 'available')
  .map((entry) => entry.petId);

let target: ConformanceTarget;
beforeAll(async () => {
  target = await openLocalTarget();
});
afterAll(() => target?.close());

const stock = (id: bigint) => sendUpdate(target, id, '{"quantity":5}');
const quantityNow = async (id: bigint) => (await readEntry(target, id)).quantity;

/** Runs an example behind a proxy that decides about the requests of one method. */
async function sellBehind(
  decide: (method?: string) => Fate,
  file: Seller,
  args: readonly unknown[] = [petId],
) {
  const seen: unknown[] = [];
  const proxy = await startProxy(target.baseUrl, ({ method }) => {
    seen.push(method);
    return decide(method);
  });
  const { stdout, stderr } = await runSeller({ ...target, ...proxy }, file, args).then(
    (output) => ({ stdout: output, stderr: '' }),
    (error) => error,
  );
  proxy.close();
  return { stdout, stderr, seen };
}

const html = '<html>\u001b[31m Hello</html>';
const noTimeLeft = { headers: { 'Retry-After': '99' }, body: html };
const redirects = [
  [301, 'GET'],
  [302, 'PATCH'],
  [303, 'PATCH'],
  [307, 'PATCH'],
  [308, 'GET'],
] as const;
/** What no example may print: control characters, or where its program failed. */
const unprintable = /[^ -~\n]|Traceback/;

describe.each(installed)('%s', (file) => {
  it.each<[string, ForeignResponse]>([
    ['a page with 200', { status: 200, body: html }],
    ['other JSON with 200', { status: 200, body: '{"petId":0,"quantity":1,"status":"available"}' }],
    ['no body with 200', { status: 200 }],
    ['a firewall’s 403', { status: 403, body: html }],
    ['a load balancer’s 404', { status: 404, body: '{"code":"not_found","message":"Gone"}' }],
    ['a proxy’s 401', { status: 401, body: '' }],
    ['a redirect', { status: 302, headers: { Location: '/v1/inventory' } }],
    ['a 412', { status: 412, body: html }],
    ['a 422', { status: 422, body: html }],
    ['a 408 without end', { status: 408, ...noTimeLeft }],
    ['a 429 without end', { status: 429, ...noTimeLeft }],
    ['a 503 without end', { status: 503, ...noTimeLeft }],
  ])('does not know of a sale after %s', async (_, response) => {
    await stock(petId);
    const decide = (method?: string) => (method === 'PATCH' ? response : 'passed');
    const { stdout, stderr, seen } = await sellBehind(decide, file);
    expect([stdout, seen]).toEqual(['', ['GET', 'PATCH']]);
    expect(stderr).toContain('The sale may or may not have happened');
    expect(stderr).not.toMatch(unprintable);
    expect(await quantityNow(petId)).toBe(4);
  });

  it('finds out in the next run, by the order', async () => {
    await stock(petId);
    const decide = (method?: string): Fate =>
      method === 'PATCH' ? { status: 403, body: html } : 'passed';
    const { stdout } = await sellBehind(decide, file, [petId, `${file}-1`]);
    expect(stdout).toBe('');
    expect(await runSeller(target, file, [petId, `${file}-1`])).toBe(
      `Order ${file}-1 was sold already.\n`,
    );
    expect(await quantityNow(petId)).toBe(4);
  });

  it.each<[string, ForeignResponse]>([
    ['a page with 200', { status: 200, body: html }],
    ['JSON with 200', { status: 200, body: '[]' }],
    ['a 404', { status: 404, body: html }],
    [
      'a weak tag',
      {
        status: 200,
        body: `{"petId":${petId},"quantity":5,"status":"available"}`,
        headers: { ETag: 'W/"AAAACQBh"' },
      },
    ],
  ])('says nothing about the pet after a read got %s', async (_, response) => {
    const { stdout, stderr, seen } = await sellBehind(() => response, file);
    expect([stdout, seen]).toEqual(['', ['GET']]);
    expect(stderr).not.toMatch(unprintable);
    expect(stderr).not.toMatch(/not for sale|^$/);
  });

  it('sends the key to no other server', async () => {
    const keys: unknown[] = [];
    const elsewhere = await startProxy(target.baseUrl, ({ headers }) => {
      keys.push(headers.authorization);
      return 'passed';
    });
    const headers = { Location: `${elsewhere.baseUrl}/inventory/${petId}` };
    for (const [status, redirected] of redirects) {
      const decide = (method?: string) => (method === redirected ? { status, headers } : 'passed');
      expect((await sellBehind(decide, file)).stdout).toBe('');
    }
    elsewhere.close();
    expect(keys).toEqual([]);
  });

  it.runIf(existsSync('/proc/self/cmdline'))('shows the key to no other user', async () => {
    const commands: string[] = [];
    await sellBehind(() => {
      commands.push(readCommands());
      return { status: 404, body: html };
    }, file);
    expect(commands).toHaveLength(1);
    expect(commands[0]).toContain(file);
    expect(commands[0]).not.toContain(target.apiKey);
  });

  it.concurrent.each(
    (
      [
        [408, '1'],
        [408, '1.0'],
        [408, 'soon'],
        [408, undefined],
        [408, 'a date'],
        [429, '0.5'],
        [429, 'a date'],
        [503, '2.0'],
      ] as const
    ).map((row, index) => [...row, more[index] ?? 0n] as const),
  )('waits after %i with Retry-After: %s, and sells', async (status, text, id) => {
    const inOneSecond = new Date(Date.now() + 1_000).toUTCString();
    const headers = text && { 'Retry-After': text === 'a date' ? inOneSecond : text };
    const fates: Fate[] = [{ status, body: html, ...(headers && { headers }) }];
    const decide = (method?: string) =>
      method === 'PATCH' ? (fates.shift() ?? 'passed') : 'passed';
    await stock(id);
    const { stdout, seen } = await sellBehind(decide, file, [id]);
    expect(seen).toEqual(['GET', 'PATCH', 'PATCH']);
    expect(parseJson(stdout)).toMatchObject({ quantity: 4 });
    expect(await quantityNow(id)).toBe(4);
  });
});

describe('orders.ts', () => {
  it.each<['GET' | 'PATCH', ForeignResponse]>([
    ['PATCH', { status: 403, body: html }],
    ['PATCH', { status: 404, body: '{"message":"no Route matched"}' }],
    ['PATCH', { status: 401, body: '' }],
    ['PATCH', { status: 412, body: html }],
    ['PATCH', { status: 422, body: html }],
    ['PATCH', { status: 429, ...noTimeLeft }],
    ['GET', { status: 404, body: html }],
    ['GET', { status: 200, body: '{"petId":7,"quantity":0}' }],
  ])('neither cancels nor repeats an order after a foreign response to %s: %j', async (...row) => {
    const [changed, response] = row;
    await stock(petId);
    const order: Order = { id: `order-${randomUUID()}`, lines: [{ petId }] };
    const proxy = await startProxy(target.baseUrl, ({ method }) =>
      method === changed ? response : 'passed',
    );
    const { apiKey } = target;
    const selling = sellOrder(
      createPetstoreClient({ baseUrl: proxy.baseUrl, apiKey }),
      order,
      () => {},
    );
    const effect = changed === 'PATCH' ? 'unknown' : 'none';
    await expect(selling).rejects.toMatchObject({ code: 'invalid_answer', effect });
    proxy.close();
    expect(order.isCancelled).toBeFalsy();
    const client = createPetstoreClient({ baseUrl: target.baseUrl, apiKey });
    expect(await sellOrder(client, order, () => {})).toBe(true);
    expect(await quantityNow(petId)).toBe(4);
  });
});

/** What `ps` shows to every user. */
function readCommands(): string {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(readCommand).join('\n');
}

function readCommand(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It has ended.
    return '';
  }
}
