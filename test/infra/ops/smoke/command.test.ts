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

const apiKey = `psk_${'0'.repeat(42)}`;
const key = { PETSTORE_API_KEY: apiKey };
const url = ['--base-url', 'https://example.com/v1'];
const stage = ['--stage', 'staging'];
const data = openDataFolder();

it.each([
  [[], '--base-url must be the https address of a stage'],
  [['--base-url', 'http://example.com/v1'], '--base-url must be the https address'],
  [['--base-url', 'https://example.com/v2'], 'such as https://'],
  [['--base-url', 'https://example.com/v1?a=/v1'], 'such as https://'],
  [[...url, ...stage], 'Give --stage or --base-url, not both'],
  [['--stage', 'live'], `--stage must be ${stageNames.join(' or ')}; it is "live"`],
  [url, 'The API key, in --api-key-file FILE or PETSTORE_API_KEY, must be psk_ and 42'],
  [[...url, '--api-key-file', data.write('bad', ['psk_0123'])], 'must be psk_ and 42'],
  [[...url, '--timeout', '1'], '--timeout must be a number with s'],
  [[...url, '--deadline', 'soon'], '--deadline must be a number with s'],
  [[...url, '--expect-commit'], '--expect-commit takes --stage'],
])('npm run smoke refuses %j', (args, message) => expectRefusal(runSmoke, args, message));

/** Runs the command of a stage whose stack has these outputs. */
async function callStage(args: readonly string[], outputs: Record<string, string>, more = key) {
  const { variables } = await useAws(describeStack('petstore-staging', outputs));
  const checkout = { PETSTORE_COMMIT: '0123456789ab' };
  return callOps(runSmoke, [...stage, ...args], { ...variables, ...checkout, ...more });
}

describe('npm run smoke --expect-commit', () => {
  it.each([
    ['0123456789ab', 'passed '],
    ['ba987', 'FAILED '],
    [undefined, 'FAILED '],
    ['unknown-no-git', 'FAILED ', 'unknown-no-git'],
  ])('compares what is live, %s, with the checkout', async (...row) => {
    const [Commit, outcome, checkout = '0123456789ab'] = row;
    const outputs = { BaseUrl: 'http://127.0.0.1:1/v1', ...(Commit && { Commit }) };
    const variables = { ...key, PETSTORE_COMMIT: checkout };
    const { stdout } = await callStage(['--expect-commit'], outputs, variables);
    expect(stdout).toContain(`Live is ${Commit ?? 'not known'}; this checkout is ${checkout}.\n`);
    expect(stdout).toContain(`\n${outcome}  this checkout is live`);
    expect(stdout).toMatch(/ got no whole answer: bad port\.\n\d rows? passed, [12] failed, /);
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

  it('passes, prints each row, and never the key', async () => {
    const file = data.write('key', [target.apiKey]);
    const args = ['--base-url', target.baseUrl, '--api-key-file', file];
    const outcome = await runOps('infra/ops/smoke/smoke.ts', args);
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    for (const line of [
      'passed   the whole list: is whole',
      'skipped  listInventory: gives each entry its tag with include=etag: no entry',
      'skipped  getPet: answers 200: no id known\n',
    ]) {
      expect(outcome.stdout).toContain(`\n${line}`);
    }
    const [passed, skipped] = ['passed', 'skipped'].map(
      (word) => outcome.stdout.match(new RegExp(`^${word} `, 'gm'))?.length,
    );
    const counts = `${passed} rows passed, 0 failed, ${skipped} skipped; `;
    expect(outcome.stdout).toMatch(new RegExp(`\n${counts}\\d+ requests in \\d+ s\\.\n$`));
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
    const readKey = { PETSTORE_API_KEY: target.readOnlyApiKey };
    const { status, stdout } = await callStage(['--light'], outputs, readKey);
    expect(stdout).toMatch(/^skipped {2}the whole list: .*: --light$/m);
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
      response.text = `{"key":"${headers.authorization?.toUpperCase()}"\n}`;
    };
    front.faults = [{ answer }];
    const { passed, failures } = await smoke({ baseUrl: front.baseUrl, apiKey: unknown });
    expect(failures).toEqual([
      expect.stringContaining('GET /inventory?limit=100 answered 401 {"key":"BEARER [API key]" }'),
    ]);
    expect(front.exchanges).toHaveLength(1);
    expect(passed).toBe(false);
  });

  it.each([
    [3, true, []],
    [1_000, false, [expect.stringContaining('has sent its 100 requests')]],
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
    ['got no whole answer: 1 s of silence.', { timeout: 1_000 }, () => {}],
    ['The run was not done within 1 s.', { deadline: 1_000 }, () => {}],
    [
      'got no whole answer: 1 s of silence.',
      { timeout: 1_000 },
      (_, response) => void respond(response).write('['),
    ],
    [
      'got no whole answer: other side closed.',
      {},
      (_, response) => void respond(response).write('[', () => response.destroy()),
    ],
  ] satisfies [string, object, RequestListener][])(
    'is one line: %s',
    async ([message, limits, listener], { expect }) => {
      using served = await serve(listener);
      const run = await smoke({ baseUrl: served.baseUrl, apiKey, ...limits });
      expect(run.failures).toEqual([expect.stringContaining(message)]);
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
    const limits = { timeout: 1_000, deadline: 3_000 };
    const run = await smoke({ baseUrl: served.baseUrl, apiKey, ...limits });
    expect(run.failures[0]).toMatch(/answered 200 {5}\[\] .* expected an answer as documented\./);
  });
});

it('a target that redirects is not followed', async () => {
  using served = await serve((_, response) => response.writeHead(302, { Location: '/' }).end());
  const { failures } = await smoke({ baseUrl: served.baseUrl, apiKey, isLight: true });
  expect(failures[0]).toContain('GET /inventory?limit=100 answered 302 (request id missing)');
});

it('npm run smoke is interrupted with the status of Ctrl-C', async () => {
  using served = await serve(defineInterrupt());
  const outcome = await callOps(runSmoke, ['--base-url', served.baseUrl], key);
  expect(outcome).toMatchObject({ status: 130, stderr: '' });
  expect(outcome.stdout).toContain('The run was interrupted.');
});
