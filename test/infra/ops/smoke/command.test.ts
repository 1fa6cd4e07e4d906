import type { RequestListener, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runSmoke } from '../../../../infra/ops/smoke/runSmoke.ts';
import { stageNames } from '../../../../infra/stages/stages.ts';
import { openLocalTarget } from '../../../conformance/localTarget.ts';
import type { ConformanceTarget } from '../../../conformance/target.ts';
import { describeStack, useAws } from '../aws.ts';
import { openDataFolder } from '../data/dataFolder.ts';
import { callOps, defineInterrupt, expectRefusal, runOps } from '../opsProcess.ts';
import { type Fault, type Front, serve, smoke, startFront } from './front.ts';

const url = ['--base-url', 'https://example.com/v1'];
const apiKey = `psk_${'0'.repeat(42)}`;
const key = ['--api-key', apiKey];
const stage = ['--stage', 'staging'];
const data = openDataFolder();

it.each([
  [[], '--base-url must be the https address of a stage'],
  [['--base-url', 'http://example.com/v1'], '--base-url must be the https address'],
  [['--base-url', 'https://example.com/v2'], 'such as https://'],
  [['--base-url', 'https://example.com/v1?a=b'], 'such as https://'],
  [[...url, ...stage], 'Give --stage or --base-url, not both'],
  [['--stage', 'live'], `--stage must be ${stageNames.join(' or ')}; it is "live"`],
  [url, 'Give --api-key-file FILE'],
  [[...url, '--api-key', 'psk_0123'], 'The API key must be psk_ and 42 letters and digits.'],
  [[...url, '--api-key-file', '/nonexistent/key'], '--api-key-file cannot be read'],
  [[...url, '--api-key-file', 'a', ...key], 'Give --api-key-file or --api-key'],
  [[...url, ...key, '--entry', '01'], 'such as 7 without a leading zero; it is "01"'],
  [[...url, ...key, '--origin', 'a'], '--origin must be such as'],
  [[...url, ...key, '--timeout', '0s'], '--timeout must be from 1s to 1h'],
  [[...url, ...key, '--timeout', '3601s'], '--timeout must be from 1s to 1h'],
  [[...url, ...key, '--deadline', 'soon'], '--deadline must be a number with s'],
  [[...url, ...key, '--expect-commit'], '--expect-commit takes --stage'],
])('npm run smoke refuses %j', (args, message) => expectRefusal(runSmoke, args, message));

/** Runs the command of a stage whose stack has these outputs. */
async function callStage(args: readonly string[], outputs: Record<string, string>) {
  const { variables } = await useAws(describeStack('petstore-staging', outputs));
  const checkout = { PETSTORE_COMMIT: '0123456789ab' };
  return callOps(runSmoke, [...stage, ...args], { ...variables, ...checkout });
}

describe('npm run smoke --expect-commit', () => {
  const lacksCommit = /^FAILED {3}this checkout: is live: .* Expected was this checkout's\.$/m;
  it.each([
    ['0123456789ab', 'Live is 0123456789ab, as is this checkout.', /^this checkout: 1 passed$/m],
    ['ba987', 'WARNING  Live is ba987, but this checkout is 0123456789ab.', lacksCommit],
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
    for (const line of [
      'passed   the whole list: is whole',
      'skipped: no entry  listInventory: gives each entry its tag',
      'skipped: no id known  getPet: answers 200\n',
    ]) {
      expect(outcome.stdout).toContain(`\n${line}`);
    }
    const skipped = outcome.stdout.match(/^skipped/gm)?.length;
    expect(outcome.stdout).toMatch(
      new RegExp(
        `\\n\\d+ rows passed, 0 failed, ${skipped} skipped; \\d+ requests in \\d+ s\\.\\n$`,
      ),
    );
    expect(outcome.stdout).not.toContain('psk_');
  });

  it('keeps to the pace of its throttles, and its origin', async () => {
    const origins = new Set<string | undefined>();
    const times: number[] = [];
    const ask: Fault['ask'] = ({ method, path, headers }) => {
      origins.add(headers.origin);
      if (method === 'GET' && path.startsWith('/store/orders')) times.push(performance.now());
    };
    front.faults = [{ ask }];
    const outputs = { BaseUrl: front.baseUrl };
    const { status, stdout } = await callStage(
      ['--light', '--api-key', target.readOnlyApiKey],
      outputs,
    );
    expect(stdout).toContain('the whole list: 1 skipped: --light');
    expect(status).toBe(0);
    expect(front.exchanges).not.toContain('GET /inventory 200');
    expect([...origins]).toEqual(['https://smoke.invalid']);
    // Staging lets five through in a second; the first may come late.
    expect(Number(times.at(-1)) - Number(times[0])).toBeGreaterThan((times.length - 1) * 200 - 150);
  });

  it('fails with a read key and --entry, with an entry that is missing, and writes nothing', async () => {
    const settings = { baseUrl: front.baseUrl, entry: '7' };
    const read = await smoke({ ...settings, apiKey: target.readOnlyApiKey });
    expect(read.failures[0]).toContain('--entry takes a key with write');
    const missing = await smoke({ ...settings, apiKey: target.apiKey });
    expect(missing.failures).toContainEqual(
      expect.stringMatching(/answered 200 \[\] .*; expected the entry 7 with its etag\.$/),
    );
    expect(front.exchanges.filter((one) => /^PATCH .* 200$/.test(one))).toEqual([]);
  });

  it('says in one line that the stage does not know the key, and hides a key that it repeats', async () => {
    const unknown = target.apiKey.slice(0, -1) + (target.apiKey.endsWith('0') ? '1' : '0');
    const answer: Fault['answer'] = ({ headers }, response) => {
      response.text = `{"key":"${headers.authorization?.toUpperCase()}"}`;
    };
    front.faults = [{ answer }];
    const args = ['--base-url', front.baseUrl, '--api-key', unknown];
    const { status, stdout } = await callOps(runSmoke, args);
    expect(stdout.match(/^FAILED.*/gm)).toEqual([
      expect.stringContaining('GET /inventory?limit=100 answered 401 {"key":"BEARER [API key]"}'),
    ]);
    expect(front.exchanges).toHaveLength(1);
    expect(status).toBe(1);
  });

  it.each([
    [3, true, []],
    [1_000, false, [expect.stringContaining('of which 100 were answered 429.')]],
  ])('waits after %i 429s, and stops after a hundred requests', async (limited, ...expected) => {
    const answer: Fault['answer'] = (_, response) => {
      if (front.exchanges.length >= limited) return;
      response.status = 429;
      response.headers['retry-after'] = '0';
    };
    front.faults = [{ answer }];
    const run = await smoke({ baseUrl: front.baseUrl, apiKey: target.apiKey });
    expect([run.passed, run.failures]).toEqual(expected);
    if (limited > 100) expect(front.exchanges).toHaveLength(100);
  });
});

const respond = (response: ServerResponse) =>
  response.writeHead(200, { 'X-Request-Id': '8f2c1e0a-6a6b' });

describe.concurrent('a target that does not answer', () => {
  it.for([
    ['no answer within 1 s.', { timeoutSeconds: 1 }, () => {}],
    ['The run was not done within 1 s.', { deadlineSeconds: 1 }, () => {}],
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
      using served = await serve(listener);
      const run = await smoke({ baseUrl: served.baseUrl, apiKey, ...limits });
      expect(run.failures[0]).toContain(message);
      expect(run.failures).toHaveLength(1);
      expect(run.rowsThat('passed')).toEqual([]);
    },
  );

  it('is not one whose body comes slowly', async ({ expect }) => {
    using served = await serve(async (_, response) => {
      respond(response);
      for (let piece = 0; piece < 4; piece += 1) {
        response.write(' ');
        await setTimeout(400);
      }
      response.end('[]');
    });
    const limits = { timeoutSeconds: 1, deadlineSeconds: 3 };
    const run = await smoke({ baseUrl: served.baseUrl, apiKey, ...limits });
    expect(run.failures[0]).toMatch(/answered 200 \[\] .* expected an answer as documented\./);
  });
});

it('a target that redirects is not followed', async () => {
  using served = await serve((_, response) => response.writeHead(302, { Location: '/' }).end());
  const { failures } = await smoke({ baseUrl: served.baseUrl, apiKey, isLight: true });
  expect(failures[0]).toContain('GET /inventory?limit=100 answered 302 (without a request id)');
});

it('npm run smoke is interrupted with the status of Ctrl-C', async () => {
  using served = await serve(defineInterrupt());
  const outcome = await callOps(runSmoke, ['--base-url', served.baseUrl, ...key]);
  expect(outcome).toMatchObject({ status: 130, stderr: '' });
  expect(outcome.stdout).toContain('The run was interrupted.');
});
