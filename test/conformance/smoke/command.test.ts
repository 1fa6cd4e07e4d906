import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runSmoke } from '../../../infra/ops/smoke/runSmoke.ts';
import { startCloudFormation } from '../../infra/ops/cloudFormation.ts';
import { openDataFolder } from '../../infra/ops/data/dataFolder.ts';
import { callOps, runOps } from '../../infra/ops/opsProcess.ts';
import { openLocalTarget } from '../localTarget.ts';
import type { ConformanceTarget } from '../target.ts';
import { type Front, startFront } from './front.ts';
import { defineHastyClock } from './hastyClock.ts';

const script = 'infra/ops/smoke/smoke.ts';
const data = openDataFolder();

describe('npm run smoke', () => {
  const clock = defineHastyClock();
  let target: ConformanceTarget;
  let front: Front;

  beforeAll(async () => {
    target = await openLocalTarget();
    front = await startFront(target.baseUrl, clock);
  });

  afterEach(() => {
    front.fault = {};
    front.isLimited = false;
    front.exchanges.length = 0;
  });

  afterAll(async () => {
    front?.close();
    await target?.close();
  });

  it('prints each row with --verbose, and never the key', async () => {
    const file = data.write('key', [target.apiKey]);
    const args = ['--base-url', target.baseUrl, '--api-key-file', file, '--verbose'];
    const { status, stdout, stderr } = await runOps(script, args);
    expect(stdout).toContain('\npassed   getPet: answers 404 to an id that no pet has\n');
    expect(stdout).toMatch(/\n\d+ rows passed, 0 failed, \d+ skipped; \d+ requests in \d+ s\.\n$/);
    expect(stdout).not.toContain('psk_');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('fails with status 1, and without a trace of a key that a stage repeats', async () => {
    front.fault = {
      answer({ path, headers }, answer) {
        if (path === '/store/orders')
          answer.text = `{"key":"${headers.authorization?.toUpperCase()}"}`;
      },
    };
    const variables = { PETSTORE_API_KEY: target.apiKey };
    const { status, stdout } = await callOps(runSmoke, ['--base-url', front.baseUrl], variables);
    expect(stdout).toMatch(/^FAILED {3}listOrders: .*\{"key":"BEARER \[API key\]"\}/m);
    expect(stdout.toLowerCase()).not.toContain(target.apiKey.slice(4, 30).toLowerCase());
    expect(status).toBe(1);
  });

  it('says in one line that the stage does not know the key', async () => {
    const other = target.apiKey.slice(0, -1) + (target.apiKey.endsWith('0') ? '1' : '0');
    const variables = { PETSTORE_API_KEY: other };
    const { status, stdout } = await callOps(runSmoke, ['--base-url', front.baseUrl], variables);
    expect(stdout).toMatch(/^FAILED .*GET \/inventory\?limit=1000 answered 401 /m);
    expect(stdout.match(/^FAILED/gm)).toHaveLength(1);
    expect(front.exchanges).toHaveLength(1);
    expect(status).toBe(1);
  });

  it('finds a stage by its stack, warns of what is live and keeps within its throttles', async () => {
    const outputs = { BaseUrl: front.baseUrl, Commit: 'ba9876543210' };
    const cloudFormation = await startCloudFormation('petstore-staging', outputs);
    front.isLimited = true;
    const run = (args: string[]) => runSmoke(args, clock);
    const { status, stdout } = await callOps(run, ['--stage', 'staging'], {
      ...cloudFormation.toVariables('http://127.0.0.1:1'),
      PETSTORE_COMMIT: '0123456789ab',
      PETSTORE_API_KEY: target.readOnlyApiKey,
    });
    cloudFormation.close();
    expect(stdout).toContain(
      '\nWARNING  Live is ba9876543210, but this checkout is 0123456789ab.\n',
    );
    expect(front.exchanges.filter((one) => one.endsWith(' 429'))).toEqual([]);
    expect(status).toBe(0);
  });
});
