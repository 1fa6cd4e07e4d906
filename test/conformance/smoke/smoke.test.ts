import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDataFolder } from '../../infra/ops/data/dataFolder.ts';
import { runOps } from '../../infra/ops/opsProcess.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { openLocalTarget } from '../localTarget.ts';
import type { ConformanceTarget } from '../target.ts';

const script = 'test/conformance/smoke/smoke.ts';
const data = openDataFolder();

describe('npm run smoke', () => {
  let target: ConformanceTarget;
  let front: Awaited<ReturnType<typeof startFront>>;

  beforeAll(async () => {
    target = await openLocalTarget();
    front = await startFront(target.baseUrl);
  });

  afterAll(async () => {
    front.close();
    await target.close();
  });

  it('passes a stage that keeps the contract, past its limits, and changes nothing', async () => {
    const list = () =>
      exactFetch(`${target.baseUrl}/inventory`, {
        headers: { Authorization: `Bearer ${target.apiKey}` },
      });
    const before = (await list()).text;
    const file = data.write('key', [target.apiKey]);
    const outcome = await runOps(script, [
      ...['--base-url', front.baseUrl, '--api-key-file', file],
      '--verbose',
    ]);
    expect(outcome.stdout).toMatch(/^\d{3} rows passed, 0 failed\.$/m);
    expect(outcome.stdout).toContain('ok      listInventory: writes each petId digit for digit');
    expect(outcome.stdout).toContain('getPet: answers 200 with each Pet as it was loaded');
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(outcome.stdout).not.toContain(target.apiKey);
    expect(front.limited()).toBeGreaterThan(0);
    expect(front.updates()).not.toEqual([]);
    expect(front.updates().filter((status) => status < 400)).toEqual([]);
    expect((await list()).text).toBe(before);
  });

  it('takes a read key, and fails a stage that breaks a row, without a trace of the key', async () => {
    front.spoil('/v1/store/orders');
    const { status, stdout, stderr } = await runOps(script, ['--base-url', front.baseUrl], {
      variables: { PETSTORE_API_KEY: target.readOnlyApiKey },
    });
    expect(stdout).toMatch(/^FAILED {2}listOrders: answers 200 with a JSON array/m);
    expect(stdout).toMatch(/^ok {6}/m);
    expect(status).toBe(1);
    expect(stdout + stderr).not.toMatch(/psk_/i);
    expect((stdout + stderr).toLowerCase()).not.toContain(target.readOnlyApiKey.slice(4, 30));
  });

  it.each([
    [['--api-key', 'psk_0123456789'], '--base-url must be'],
    [['--base-url', 'http://example.com/v1'], '--base-url must be the https address'],
    [['--base-url', 'https://example.com/v2'], 'such as https://'],
    [['--base-url', 'https://example.com/v1'], 'Give --api-key-file FILE'],
    [['--base-url', 'https://example.com/v1', '--api-key', 'psk_0123'], 'The API key must be'],
  ])('refuses %j with one clear line and status 2', async (args, message) => {
    const { status, stdout, stderr } = await runOps(script, args);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('psk_0123');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it('says in one line that the stage does not know the key', async () => {
    const other = target.apiKey.slice(0, -1) + (target.apiKey.endsWith('0') ? '1' : '0');
    const { status, stdout } = await runOps(script, ['--base-url', target.baseUrl], {
      variables: { PETSTORE_API_KEY: other },
    });
    expect(stdout).toMatch(/^FAILED {2}GET \/inventory answered 401: /m);
    expect(status).toBe(1);
  });
});

/** A proxy before a stage that limits every tenth request, and takes the X-Request-Id from a spoiled path. */
async function startFront(behind: string) {
  let count = 0;
  let limited = 0;
  let spoiled = '';
  const updates: number[] = [];
  const server = createServer((incoming, outgoing: ServerResponse) => {
    count += 1;
    if (count % 10 === 0) {
      limited += 1;
      outgoing.writeHead(429, { 'Retry-After': '0' }).end();
      return;
    }
    const onward = request(new URL(behind).origin, {
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers: incoming.headers,
    });
    onward.on('response', (response) => {
      const { 'x-request-id': id, ...headers } = response.headers;
      if (incoming.url !== spoiled) headers['x-request-id'] = id;
      if (incoming.method === 'PATCH') updates.push(response.statusCode ?? 0);
      outgoing.writeHead(response.statusCode ?? 500, headers);
      response.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    limited: () => limited,
    updates: () => updates,
    spoil: (path: string) => {
      spoiled = path;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
