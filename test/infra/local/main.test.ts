import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { defineEmulatorClient } from '../../../infra/cli/tableOption.ts';
import type { Command } from '../../../infra/cli/usage.ts';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { parseOptions } from '../../../infra/local/start.ts';
import { petstore } from '../../../infra/petstore.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { send, sendUpdate } from '../../conformance/target.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps, defineCommand, startOps } from '../ops/opsProcess.ts';

type LocalProcess = ReturnType<typeof run>;
type ReadyStage = Awaited<ReturnType<typeof untilReady>>;

const { toPath, write } = openTemporaryFolder();
/** Runs `npm start` in its own process. */
function run(args: readonly string[]) {
  const local = startOps(['infra/petstore.js', 'start', '--port', '0', ...args]);
  onTestFinished(() => void local.child.kill('SIGKILL'));
  return local;
}

async function untilReady(local: LocalProcess) {
  const ready = /^Base URL: (http:\/\/127\.0\.0\.1:\d+\/v1)\nAPI key: (psk_\w+)\n/;
  await vi.waitFor(
    () => expect(local.written.stdout, local.written.stderr).toMatch(ready),
    100_000,
  );
  const [, baseUrl = '', apiKey = ''] = ready.exec(local.written.stdout) ?? [];
  return { ...local, baseUrl, apiKey };
}

async function list(stage: ReadyStage) {
  const response = await send(stage, 'GET', '/inventory');
  return response.json() as { petId: number | bigint; quantity: number }[];
}

interface Sale {
  readonly key: string;
  readonly petIds: readonly number[];
  readonly responses: { readonly outcome: string; readonly isReplay: boolean }[];
}

/** Sells one unit of each pet. Rejects if the stage is killed first. */
async function sell(stage: ReadyStage, { key, petIds, responses }: Sale): Promise<void> {
  const { status, headers, json } = await send(stage, 'POST', '/inventory/adjustments', {
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ adjustments: petIds.map((petId) => ({ petId, delta: -1 })) }),
  });
  const { code } = json() as { code?: string };
  const outcome = code === undefined ? `${status}` : `${status} ${code}`;
  responses.push({ outcome, isReplay: headers.has('Idempotent-Replayed') });
}

/**
 * Starts in this process and ends by itself, or by a signal before anything is served. Removes its console, and its
 * listeners, which would end a later test.
 */
async function startHere(
  args: string[],
  variables?: Record<string, string>,
  interrupt?: () => Promise<void>,
) {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const before = new Set(signals.flatMap((signal) => process.listeners(signal)));
  const methods = { ...console };
  const command: Command = async (typed) =>
    void (await Promise.all([petstore(typed), interrupt?.()]));
  const outcome = await callOps(command, args, variables);
  Object.assign(console, methods);
  for (const signal of signals) {
    for (const one of process.listeners(signal)) if (!before.has(one)) process.off(signal, one);
  }
  return outcome;
}

describe('a start', () => {
  const dir = toPath('kept');

  test('serves the sample, logs requests, and ends on SIGINT and npm’s repeat of it', async () => {
    const stage = await untilReady(run(['--dir', dir]));
    const { baseUrl, apiKey } = stage;
    const [, readKey] = /^Read key: (psk_\w+)$/m.exec(stage.written.stdout) ?? [];
    expect(stage.written.stdout).toBe(
      `Base URL: ${baseUrl}
API key: ${apiKey}
Try it: echo 'Authorization: Bearer ${apiKey}' | curl -H @- ${baseUrl}/inventory
Read key: ${readKey}
Documentation: ${baseUrl.replace('/v1', '/docs/')}
`,
    );
    expect((await list(stage)).map(({ petId }) => petId)).toContain(9007199254740993n);
    const reader = { ...stage, apiKey: `${readKey}` };
    expect(await list(reader)).toHaveLength(50);
    expect((await sendUpdate(reader, 9n, '{"quantity": 4321}')).status).toBe(403);
    expect((await sendUpdate(stage, 9n, '{"quantity": 4321}')).status).toBe(200);
    const refused = await startHere(['start', '--port', '0', '--dir', dir]);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^[^\n]+ another process is using it[^\n]*\n$/);
    stage.child.kill('SIGINT');
    stage.child.kill('SIGINT');
    expect(await stage.exited).toBe(0);
    const logged = (operation: string, status: number) => ({
      timestamp: expect.any(String),
      level: 'INFO',
      requestId: expect.any(String),
      message: expect.objectContaining({ operation, status }),
    });
    const lines = stage.written.stderr.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      logged('listInventory', 200),
      logged('listInventory', 200),
      logged('updateInventory', 403),
      logged('updateInventory', 200),
    ]);
  });

  test('can be interrupted while it loads a large file', async () => {
    const dir = toPath('interrupted');
    const toEntry = (_: unknown, petId: number) => ({ petId, quantity: 1, status: 'sold' });
    const inventory = Array.from({ length: 20_000 }, toEntry);
    const file = write('large.json', JSON.stringify({ inventory }));
    const args = ['start', '--port', '0', '--data', file, '--dir', dir];
    const interrupted = await startHere(args, {}, async () => {
      const toOpened = () => expect(existsSync(join(dir, 'CURRENT'))).toBe(true);
      await vi.waitFor(toOpened, { timeout: 100_000, interval: 20 });
      process.emit('SIGTERM', 'SIGTERM');
    });
    expect(interrupted).toEqual({ status: 0, stdout: '', stderr: '' });
    const engine = await startEmbeddedEngine({ dir });
    const client = defineEmulatorClient(engine.endpoint);
    const { Count } = await client.send(
      new ScanCommand({ TableName: 'inventory', Select: 'COUNT' }),
    );
    expect(Count).toBeLessThan(inventory.length);
    client.destroy();
    await engine.close();
  });

  // Large carts, so that a kill probably meets a write. Two sellers share the last one, which sells out.
  const carts = [1010, 1020, 1030, 1040, 1050, 1060, 1070, 1070].map((first) => {
    return Array.from({ length: 10 }, (_, index) => first + index);
  });
  const inventory = [...new Set(carts.flat())].map((petId) => {
    return { petId, quantity: petId < 1070 ? 1_000 : 2, status: 'available' };
  });

  test('continues with the data in a folder, loads given data over them, and keeps each sale that it confirmed, and no other, when it is killed in the middle of sales', async () => {
    const entries = [{ petId: 10, quantity: 5, status: 'sold' }, ...inventory];
    const data = write('over.json', JSON.stringify({ inventory: entries }));
    const stage = await untilReady(run(['--dir', dir, '--data', data, '--expose-dynamodb', '0']));
    const kept = await list(stage);
    expect(kept).toHaveLength(50 + inventory.length);
    expect(kept).toContainEqual(expect.objectContaining({ petId: 9, quantity: 4321 }));
    expect(kept).toEqual(expect.arrayContaining(entries));
    const exposed =
      /^DynamoDB: (\S+), with the tables inventory, pets, orders, requests, apiKeys$/m;
    const [, endpoint = ''] = exposed.exec(stage.written.stdout) ?? [];
    const client = defineEmulatorClient(endpoint);
    const { Count } = await client.send(new ScanCommand({ TableName: 'inventory' }));
    expect(Count).toBe(kept.length);
    client.destroy();

    const sales: Sale[] = [];
    let confirmed = 0;
    async function sellUntilKilled(petIds: readonly number[]): Promise<never> {
      for (;;) {
        const sale: Sale = { key: randomUUID(), petIds, responses: [] };
        sales.push(sale);
        await sell(stage, sale);
        confirmed += 1;
        if (confirmed === 20) stage.child.kill('SIGKILL');
      }
    }
    await Promise.allSettled(carts.map(sellUntilKilled));
    expect(await stage.exited).toBe('SIGKILL');
    // The last sale of each seller.
    const unknown = sales.filter(({ responses }) => responses.length === 0);
    expect(unknown).toHaveLength(carts.length);

    const again = await untilReady(run(['--dir', dir]));
    expect(again.apiKey).not.toBe(stage.apiKey);
    for (const sale of sales) {
      await sell(again, sale);
      await sell(again, sale);
    }
    for (const { responses } of sales) {
      expect(new Set(responses.map(({ outcome }) => outcome)).size).toBe(1);
      expect(responses.slice(1).every(({ isReplay }) => isReplay)).toBe(true);
    }
    const outcomes = Map.groupBy(sales, ({ responses }) => responses[0]?.outcome);
    expect([...outcomes.keys()].sort()).toEqual(['200', '409 insufficient_stock']);
    const left = kept.map(({ petId, quantity }) => {
      const sold = outcomes.get('200')?.filter(({ petIds }) => petIds.includes(Number(petId)));
      return [petId, quantity - (sold?.length ?? 0)];
    });
    const found = (await list(again)).map(({ petId, quantity }) => [petId, quantity]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(left));
    again.child.kill('SIGTERM');
    expect(await again.exited).toBe(0);
  });
});

const misplaced = 'Write "--" between npm start and its options: npm start -- --port 4000';
test.each<[line: string, said: string, ofNpm?: Record<string, string>]>([
  ['--port PORT', 'Port PORT cannot be used: it is in use. Choose another with --port, or'],
  ['--port 0 --expose-dynamodb PORT', 'is in use. Choose another with --expose-dynamodb, or 0'],
  ['--port 0 --data FILE', 'The data file FILE cannot be used: Unexpected end of JSON input'],
  // npm takes options that follow no "--".
  ['4000', misplaced, { npm_config_port: 'true' }],
  ['', misplaced, { npm_config_expose_dynamodb: '8000' }],
  ['stock.json', misplaced, {}],
  ['--port 4000', misplaced, { npm_config_fail: 'true' }],
])('npm start -- %s cannot succeed, and says why in a line', async (line, said, ofNpm) => {
  const other = createServer();
  const port = `${await listen(other, 0, '')}`;
  const file = write('not-ok.json', '{"pets": [');
  const fill = (text: string) => text.replaceAll('PORT', port).replaceAll('FILE', file);
  const variables = ofNpm && { npm_lifecycle_event: 'start', ...ofNpm };
  const typed = ['start', ...fill(line).split(' ').filter(Boolean)];
  const { status, stdout, stderr } = await startHere(typed, variables);
  other.close();
  expect({ status, stdout }).toEqual({ status: ofNpm ? 2 : 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(fill(said));
});

describe('the options', () => {
  const { throttles } = stages.production.settings;
  const often = { status: 503, share: 0.1 };
  const mostly = { status: 429, share: 0.9 };

  test.each<[string, object]>([
    ['', { port: 3000, faultInjection: { failures: [], delayMilliseconds: 0, lostShare: 0 } }],
    [
      '--port 65535 --data stock.json --dir=kept --expose-dynamodb 0',
      { port: 65_535, data: 'stock.json', dir: 'kept', enginePort: 0 },
    ],
    ['--fail 503:0.1 --fail=429:.9', { faultInjection: { failures: [often, mostly] } }],
    ['--delay 2s --lose .1', { faultInjection: { delayMilliseconds: 2_000, lostShare: 0.1 } }],
    ['--delay 29000ms --lose 1', { faultInjection: { delayMilliseconds: 29_000, lostShare: 1 } }],
    ['--throttle production', { faultInjection: { throttles } }],
  ])('%j are read', async (line, options) => {
    let read: object | undefined;
    const command = defineCommand('start', async (typed: Parameters<typeof parseOptions>[0]) => {
      read = parseOptions(typed);
    });
    await callOps(command, line.split(' ').filter(Boolean));
    expect(read).toMatchObject(options);
  });
});
