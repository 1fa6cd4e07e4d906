import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Engine, startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { type LocalStage, startLocalStage } from '../../../infra/local/localStage.ts';
import { toCannedEntry, toListedJson } from '../../bench/canned/cannedRecords.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';
import { defineFreshFunctions } from '../localTarget.ts';

const ENTRIES = 1_000_000;
const cannedDynamoDB = new URL('../../bench/canned/cannedDynamoDB.ts', import.meta.url).pathname;

describe('an inventory of a million entries, from an endpoint in another process', () => {
  let canned: ChildProcess<{ endpoint: string }>;
  let stage: LocalStage;

  beforeAll(async () => {
    canned = await startChild(cannedDynamoDB);
    await canned.ask({ entries: ENTRIES, key: {} });
    const embedded = await startEmbeddedEngine();
    const engine = await startRouter(embedded, canned.first.endpoint);
    const data = { inventory: [], pets: [], orders: [] };
    const startEngine = async () => engine;
    const loadHandler = defineFreshFunctions();
    stage = await startLocalStage({ port: 0, data, startEngine, loadHandler });
  });

  afterAll(async () => {
    await stage.close();
  });

  function list(): Promise<IncomingMessage> {
    const headers = { Authorization: `Bearer ${stage.apiKey}` };
    return new Promise((resolve, reject) => {
      request(`${stage.baseUrl}/inventory`, { headers }, resolve).on('error', reject).end();
    });
  }

  test('arrives whole and in order', async () => {
    const response = await list();
    expect(response.statusCode).toBe(200);
    let rest = '';
    let arrived = 0;
    for await (const chunk of response.setEncoding('latin1')) {
      const elements = (rest + chunk).split('},');
      rest = elements.pop() ?? '';
      for (const element of elements) {
        const text = `${arrived === 0 ? element.slice(1) : element}}`;
        if (text !== toListedJson(toCannedEntry(arrived))) expect.fail(`${arrived}: ${text}`);
        arrived += 1;
      }
    }
    expect(rest).toBe(`${toListedJson(toCannedEntry(arrived))}]`);
    expect(arrived + 1).toBe(ENTRIES);
  });

  test('breaks off when the endpoint is killed in mid-list', async () => {
    const response = await list();
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.setEncoding('latin1')) {
        if (text === '') canned.kill();
        text += chunk;
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(text.startsWith('[{"petId":')).toBe(true);
    expect(text.endsWith(']')).toBe(false);
  });
});

/** The embedded engine, but for the scans, which go to another. */
function startRouter(embedded: Engine, scanned: string): Promise<Engine> {
  const server = createServer((incoming, outgoing) => {
    const isScan = String(incoming.headers['x-amz-target']).endsWith('.Scan');
    const { host: _, ...headers } = incoming.headers;
    const onward = request(isScan ? scanned : embedded.endpoint, { method: 'POST', headers });
    onward.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.on('error', () => outgoing.destroy()).pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  return frontEngine(embedded, server);
}

/** The embedded engine behind a server, which is closed with it. */
async function frontEngine(embedded: Engine, server: Server): Promise<Engine> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await embedded.close();
    },
  };
}
