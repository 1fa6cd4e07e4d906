import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../../../shared/contract/values.ts';
import { expectSuccess } from '../../expectations.ts';
import { exactPetIds } from '../../fixtures.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/inventoryEntry.ts';
import { type ConformanceTarget, sendUpdate } from '../../target.ts';
import { type ExampleServer, runExample, startExample } from './exampleProcess.ts';

let target: ConformanceTarget;
let settings: Record<string, string>;
beforeAll(async () => {
  target = await openLocalTarget();
  settings = { BASE_ADDRESS: target.baseUrl, API_KEY: target.apiKey };
});
afterAll(() => target?.close());

/** For each test that sells, a pet of its own. */
const [first, second, third, fourth, fifth] = exactPetIds;

async function stock(petId: bigint, quantity: number): Promise<void> {
  expectSuccess(await sendUpdate(target, petId, `{"quantity":${quantity}}`), 'updateInventory');
}
const quantityNow = async (petId: bigint) => (await readEntry(target, petId))?.quantity;

const hasCurl = spawnSync('curl', ['--version']).status === 0;

// Before the others change what it lists.
describe('list.ts', () => {
  it('lists every entry, digit for digit', async () => {
    const lines = (await runExample('list.ts', settings)).trimEnd().split('\n');
    const expected = target.fixtures.inventory.map(
      ({ petId, quantity, status }) => `${petId}: ${quantity} ${status}`,
    );
    expect(lines.sort()).toEqual(expected.sort());
  });
});

describe.concurrent('what sells', () => {
  describe.runIf(hasCurl)('curl.sh', () => {
    it('lists the inventory and sells a piece', async ({ expect }) => {
      await stock(first, 5);
      const lines = (await runExample('curl.sh', settings, `${first}`)).trim().split('\n');
      expect(parseJson(lines[0] ?? '')).toHaveLength(target.fixtures.inventory.length);
      expect(parseJson(lines.at(-1) ?? '')).toMatchObject({ petId: first, quantity: 4 });
      expect(await quantityNow(first)).toBe(4);
    });

    it('repeats an update after 503, and sells once', async ({ expect }) => {
      await stock(second, 5);
      const busy = await startBusyProxy(target.baseUrl);
      const { port } = busy.server.address() as AddressInfo;
      const through = { ...settings, BASE_ADDRESS: `http://127.0.0.1:${port}/v1` };
      await runExample('curl.sh', through, `${second}`);
      busy.server.close();
      expect(busy.keys).toHaveLength(2);
      expect(new Set(busy.keys).size).toBe(1);
      expect(await quantityNow(second)).toBe(4);
    });

    it('fails where the service refuses', async ({ expect }) => {
      await stock(third, 0);
      const refused = runExample('curl.sh', { ...settings, API_KEY: 'psk_wrong' });
      await expect(refused).rejects.toMatchObject({ code: 22 });
      const soldOut = runExample('curl.sh', settings, `${third}`);
      await expect(soldOut).rejects.toMatchObject({ stderr: `Pet ${third} is sold out.\n` });
    });
  });

  describe('server.ts', () => {
    let server: ExampleServer;
    beforeAll(async () => {
      server = await startExample('server.ts', settings);
    });
    afterAll(() => server?.stop());

    async function sell(id: bigint | string): Promise<[status: number, body: string]> {
      const response = await fetch(`${server.address}/sell/${id}`, { method: 'POST' });
      return [response.status, await response.text()];
    }

    it('sells every piece once, whoever wants one', async ({ expect }) => {
      await stock(fourth, 5);
      const answers = await Promise.all(Array.from({ length: 8 }, () => sell(fourth)));
      const sold = answers.filter(([status]) => status === 200);
      const left = sold.map(([, body]) => JSON.parse(body));
      expect(left.map(({ quantity }) => quantity).sort()).toEqual([0, 1, 2, 3, 4]);
      expect(left[0].petId).toBe(`${fourth}`);
      expect(answers.filter(([status]) => status === 409)).toHaveLength(3);
      expect(await quantityNow(fourth)).toBe(0);
    });

    it('tells what it does not sell from what it does not know', async ({ expect }) => {
      await stock(fifth, 5);
      expect((await sell(target.fixtures.missingPetId))[0]).toBe(404);
      expect((await sell('x'))[0]).toBe(404);
      expect((await fetch(`${server.address}/sell/${fifth}`))?.status).toBe(404);
      expect(await quantityNow(fifth)).toBe(5);
    });
  });
});

/** A proxy that lets the first update through, and answers it 503 all the same. */
async function startBusyProxy(behind: string): Promise<{ server: Server; keys: unknown[] }> {
  const keys: unknown[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    if (method === 'PATCH') keys.push(headers['idempotency-key']);
    const isBusy = method === 'PATCH' && keys.length === 1;
    const onward = request(new URL(url, behind), { method, headers }, (response) => {
      if (isBusy) response.resume();
      if (isBusy) return outgoing.writeHead(503, { 'Retry-After': '1' }).end('{"code":"x"}');
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      return response.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, keys };
}
