import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runSmoke } from '../../../../infra/ops/smoke/runSmoke.ts';
import { openLocalTarget } from '../../../conformance/localTarget.ts';
import type { ConformanceTarget } from '../../../conformance/target.ts';
import { startCloudFormation } from '../cloudFormation.ts';
import { openDataFolder } from '../data/dataFolder.ts';
import { callOps, runOps } from '../opsProcess.ts';
import { type Front, startFront } from './front.ts';
import { smoke } from './smoke.ts';

const url = 'https://example.com/v1';
const apiKey = `psk_${'0'.repeat(42)}`;
const key = ['--api-key', apiKey];
const data = openDataFolder();
const lacksCommit = /^FAILED {3}this checkout: is live: .* Expected was this checkout's\.$/m;

describe('npm run smoke', () => {
  it.each([
    [[], '--base-url must be the https address of a stage'],
    [['--base-url', 'http://example.com/v1'], '--base-url must be the https address'],
    [['--base-url', 'https://example.com/v2'], 'such as https://'],
    [['--base-url', url, '--stage', 'staging'], 'Give --stage or --base-url, not both'],
    [['--stage', 'live'], '--stage must be staging or production; it is "live"'],
    [['--base-url', url], 'Give --api-key-file FILE'],
    [['--base-url', url, '--api-key', 'psk_0123'], 'The API key must be'],
    [['--base-url', url, '--api-key-file', '/nonexistent/key'], '--api-key-file cannot be read'],
    [['--base-url', url, '--api-key-file', 'a', ...key], 'Give --api-key-file or --api-key'],
    [['--base-url', url, ...key, '--entry', '01'], 'such as 7 without a leading zero; it is "01"'],
    [['--base-url', url, ...key, '--origin', 'a'], '--origin must be such as'],
    [['--base-url', url, ...key, '--timeout', '0s'], '--timeout must be from 1s to 1h'],
    [['--base-url', url, ...key, '--deadline', 'soon'], '--deadline must be a number with s'],
    [['--base-url', url, ...key, '--expect-commit'], '--expect-commit takes --stage'],
  ])('refuses %j with one clear line and status 2', async (args, message) => {
    const { status, stdout, stderr } = await callOps(runSmoke, args);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('psk_0');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it.each([
    ['0123456789ab', 'Live is 0123456789ab, as is this checkout.', /^this checkout: 1 passed$/m],
    [
      'ba9876543210',
      'WARNING  Live is ba9876543210, but this checkout is 0123456789ab.',
      lacksCommit,
    ],
    ['unknown-no-git', 'The commit that is live is not known.', lacksCommit],
    [undefined, 'The commit that is live is not known.', lacksCommit],
  ])('compares what is live, %s, with the checkout', async (Commit, line, report) => {
    const outputs = { BaseUrl: 'http://127.0.0.1:1/v1', ...(Commit && { Commit }) };
    const { stdout } = await callStage(['--expect-commit', ...key], outputs);
    expect(stdout).toContain(`\n${line}\n`);
    expect(stdout).toMatch(report);
    expect(stdout).toMatch(/^listInventory: 1 failed, \d skipped: no answer$/m);
  });

  it('says in one line that a stage was never deployed', async () => {
    const { status, stdout, stderr } = await callStage(key, {});
    expect(stderr).toContain('petstore-staging has no output BaseUrl');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });
});

describe('npm run smoke, of an empty stage', () => {
  let target: ConformanceTarget;
  let front: Front;

  beforeAll(async () => {
    target = await openLocalTarget({ data: { inventory: [], pets: [], orders: [] } });
    front = await startFront(target.baseUrl);
  });
  beforeEach(() => {
    front.faults = [];
    front.exchanges.length = 0;
  });
  afterAll(async () => {
    front?.[Symbol.dispose]();
    await target?.close();
  });

  it('passes, prints each row with --verbose, and never the key', async () => {
    const file = data.write('key', [target.apiKey]);
    const args = ['--base-url', target.baseUrl, '--api-key-file', file, '--verbose'];
    const outcome = await runOps('infra/ops/smoke/smoke.ts', args);
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(outcome.stdout).toContain('\npassed   the whole list: is whole');
    expect(outcome.stdout).toContain(
      '\nskipped: no entry  listInventory: gives each entry its tag',
    );
    expect(outcome.stdout).toContain('\nskipped: no id known  getPet: answers 200\n');
    expect(outcome.stdout).toMatch(
      /\n\d+ rows passed, 0 failed, 4 skipped; \d+ requests in \d+ s\.\n$/,
    );
    expect(outcome.stdout).not.toContain('psk_');
  });

  it('keeps to the pace of its throttles, and its origin', async () => {
    const origins = new Set<string | undefined>();
    const times: number[] = [];
    front.faults = [
      {
        ask({ method, path, headers }) {
          origins.add(headers.origin);
          if (method === 'GET' && path.startsWith('/store/orders')) times.push(performance.now());
        },
      },
    ];
    const variables = { PETSTORE_API_KEY: target.readOnlyApiKey };
    const { status, stdout } = await callStage(['--light'], { BaseUrl: front.baseUrl }, variables);
    expect(stdout).toContain('the whole list: 1 skipped: --light');
    expect(status).toBe(0);
    expect(front.exchanges).not.toContain('GET /inventory 200');
    expect([...origins]).toEqual(['https://smoke.invalid']);
    // Staging lets five through in a second; the first may come late.
    expect(Number(times.at(-1)) - Number(times[0])).toBeGreaterThan((times.length - 1) * 200 - 150);
  });

  it('fails with a read key and --entry, with an entry that is missing, and writes nothing', async () => {
    const { baseUrl } = front;
    const read = await smoke({ baseUrl, apiKey: target.readOnlyApiKey, entry: '7' });
    expect(read.failures).toEqual([expect.stringContaining('--entry takes a key with write')]);
    const missing = await smoke({ baseUrl, apiKey: target.apiKey, entry: '7' });
    expect(missing.failures).toEqual([
      expect.stringMatching(/answered 200 \[\] .*; expected the entry 7 with its etag\.$/),
    ]);
    expect(front.exchanges.filter((one) => /^PATCH .* 200$/.test(one))).toEqual([]);
  });

  it('says in one line that the stage does not know the key, and hides a key that it repeats', async () => {
    const unknown = target.apiKey.slice(0, -1) + (target.apiKey.endsWith('0') ? '1' : '0');
    const args = ['--base-url', front.baseUrl, '--api-key', unknown];
    front.faults = [
      {
        answer({ headers }, response) {
          response.text = `{"key":"${headers.authorization?.toUpperCase()}"}`;
        },
      },
    ];
    const { status, stdout } = await callOps(runSmoke, args);
    expect(stdout.match(/^FAILED.*/gm)).toEqual([
      expect.stringContaining('GET /inventory?limit=100 answered 401 {"key":"BEARER [API key]"}'),
    ]);
    expect(front.exchanges).toHaveLength(1);
    expect(status).toBe(1);
  });

  it('waits after a 429, and stops after a hundred requests', async () => {
    const isLimited = (count: number) => ({
      answer(_: unknown, response: { status: number; headers: Record<string, unknown> }) {
        if (front.exchanges.length >= count) return;
        response.status = 429;
        response.headers['retry-after'] = '0';
      },
    });
    front.faults = [isLimited(3)];
    const { baseUrl } = front;
    expect((await smoke({ baseUrl, apiKey: target.apiKey })).passed).toBe(true);
    front.exchanges.length = 0;
    front.faults = [isLimited(1_000)];
    const { failures } = await smoke({ baseUrl, apiKey: target.apiKey });
    expect(failures).toEqual([expect.stringContaining('of which 100 were answered 429.')]);
    expect(front.exchanges).toHaveLength(100);
  });
});

describe.concurrent('a target that does not answer', () => {
  it.for([
    ['no answer within 1 s.', { timeoutSeconds: 1 }, () => {}],
    ['The run was not done within 1 s.', { deadlineSeconds: 1 }, () => {}],
    ['The run was interrupted.', { signal: AbortSignal.timeout(100) }, () => {}],
    [
      'answered 200 and did not go on within 1 s. The same in 2 more rows.',
      { timeoutSeconds: 1 },
      (_, response) => void respond(response).write('['),
    ],
    [
      'answered 200 and broke off',
      { isLight: true },
      (_, response) => void respond(response).write('[', () => response.destroy()),
    ],
    ['got no answer: other side closed.', {}, (request) => request.socket.destroy()],
  ] satisfies [string, object, RequestListener][])(
    'is one line: %s',
    async ([message, limits, listener], { expect }) => {
      const server = createServer(listener).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const run = await smoke({ baseUrl, apiKey, ...limits });
      server.closeAllConnections();
      server.close();
      expect(run.failures[0]).toContain(message);
      expect(run.failures).toHaveLength(1);
      expect(run.rowsThat('passed')).toEqual([]);
    },
  );

  it('is not one whose body comes slowly', async ({ expect }) => {
    const server = createServer(async (_, response) => {
      respond(response);
      for (let piece = 0; piece < 4; piece += 1) {
        response.write(' ');
        await setTimeout(400);
      }
      response.end('[]');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const run = await smoke({ baseUrl, apiKey, timeoutSeconds: 1, deadlineSeconds: 3 });
    server.closeAllConnections();
    server.close();
    expect(run.failures[0]).toMatch(/answered 200 \[\] .* expected an answer as documented\./);
  });

  it('is interrupted with the status of Ctrl-C', async ({ expect }) => {
    const server = createServer(() => process.kill(Number(child), 'SIGINT')).listen(0, '127.0.0.1');
    let child: number | undefined;
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const outcome = await runOps('infra/ops/smoke/smoke.ts', ['--base-url', baseUrl, ...key], {
      onStart: ({ pid }) => {
        child = pid;
      },
    });
    server.closeAllConnections();
    server.close();
    expect(outcome).toMatchObject({ status: 130, stderr: '' });
    expect(outcome.stdout).toContain('The run was interrupted.');
  });
});

/** Runs the command of a stage whose stack has these outputs. */
async function callStage(
  args: readonly string[],
  outputs: Record<string, string>,
  variables: Record<string, string> = {},
) {
  const cloudFormation = await startCloudFormation('petstore-staging', outputs);
  const outcome = await callOps(runSmoke, ['--stage', 'staging', ...args], {
    ...cloudFormation.toVariables('http://127.0.0.1:1'),
    PETSTORE_COMMIT: '0123456789ab',
    ...variables,
  });
  cloudFormation.close();
  return outcome;
}

function respond(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'X-Request-Id': '8f2c1e0a-6a6b' });
}
