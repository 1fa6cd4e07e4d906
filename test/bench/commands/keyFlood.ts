import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

/**
 * How many table reads 100,000 requests with wrong keys cause, through the real getPet handler and
 * counted at the database's endpoint. Exact figures, the same on any machine.
 */
const REQUESTS = 100_000;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const engine = await startEmbeddedEngine();
const endpoint = await startFaultyEndpoint(engine.endpoint);
const stage = await startLocalStage({
  port: 0,
  data: { inventory: [], pets: [], orders: [] },
  startEngine: async () => ({ endpoint: endpoint.endpoint, close: async () => {} }),
});
const { handler } = await import('../../../functions/getPet.ts');
console.info = () => {};

const unknownKey = mintApiKey().apiKey;
const floods = {
  'random keys of the right shape, wrong checksum': toRandomKey,
  'one unknown key id, right checksum': () => unknownKey,
};
for (const [name, toKey] of Object.entries(floods)) {
  endpoint.heal();
  const started = performance.now();
  const statuses = new Map<number, number>();
  for (let sent = 0; sent < REQUESTS; sent++) {
    const event = toProxyRequest({ Authorization: [`Bearer ${toKey()}`] }, { petId: '1' });
    const { statusCode } = (await handler(event as never, {} as never)) as { statusCode: number };
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
  }
  const reads = [...endpoint.calls.values()].reduce((sum, count) => sum + count, 0);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  process.stdout.write(`${name}: ${reads} table reads in ${seconds} s (${answers})\n`);
}

await stage.close();
await endpoint.close();
await engine.close();
// The functions' own connections would hold the process for a while.
process.exit();

/** One in 62^6, about 57 billion, would pass the checksum. */
function toRandomKey(): string {
  let key = 'psk_';
  while (key.length < 46) key += alphabet[Math.floor(Math.random() * alphabet.length)];
  return key;
}
