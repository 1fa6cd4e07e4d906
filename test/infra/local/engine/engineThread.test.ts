import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineEngineThread } from '../../../../infra/local/engine/engineThread.ts';
import { StartFailure } from '../../../../infra/local/engine/loopback.ts';
import { exactFetch } from '../../../support/exactFetch.ts';
import { killLocals, runLocalCrashing, untilReady } from '../localProcess.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-thread-'));
});
afterEach(killLocals);
afterAll(() => rm(folder, { recursive: true }));

describe('the engine in a thread of its own', () => {
  it('answers until it is closed, which is no crash', async () => {
    const { crash, endpoint, close } = await defineEngineThread().startEngine({});
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const client = new DynamoDBClient({ endpoint, region: 'local', credentials, maxAttempts: 1 });
    expect(await client.send(new ListTablesCommand({}))).toMatchObject({ TableNames: [] });
    await close();
    client.destroy();
    expect(crash?.aborted).toBe(false);
    await expect(exactFetch(endpoint)).rejects.toThrow('ECONNREFUSED');
  });

  it('tells what its user can put right as the engine itself does', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const refused = defineEngineThread().startEngine({ dir: file });
    await expect(refused).rejects.toThrow(/^The folder .*file cannot be used: /);
    await expect(refused).rejects.toBeInstanceOf(StartFailure);
  });

  it('cannot be started any more once it is disposed of', async () => {
    const thread = defineEngineThread();
    thread[Symbol.dispose]();
    await expect(thread.startEngine({})).rejects.toThrow('has crashed');
  });
});

describe('a crash of the engine', { timeout: 20_000 }, () => {
  const line = 'The embedded DynamoDB has crashed, and the stage ends: no more of this\n';

  it('ends a stage with one line and status 1, at once', async () => {
    const trigger = join(folder, 'serving');
    const stage = await untilReady(runLocalCrashing(trigger, '--port', '0', '--delay', '29s'));
    const asked = exactFetch(`${stage.baseUrl}/inventory`, { headers: stage.authorization });
    const outcome = asked.catch((error: Error) => error);
    // Its answer is not waited for, since none could be a good one.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await writeFile(trigger, '');
    expect(await stage.exited).toBe(1);
    expect(stage.stderr().endsWith(`\x1b[K${line}`)).toBe(true);
    expect(await outcome).toBeInstanceOf(Error);
  });

  it('ends a load that is under way', async () => {
    const trigger = join(folder, 'loading');
    const inventory = Array.from({ length: 30_000 }, (_, petId) => ({
      petId,
      quantity: 1,
      status: 'sold',
    }));
    const file = join(folder, 'large.json');
    await writeFile(file, JSON.stringify({ inventory }));
    const local = runLocalCrashing(trigger, '--port', '0', '--data', file);
    while (!local.stderr().includes('% of 30,000 rows')) {
      expect(local.child.exitCode).toBeNull();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await writeFile(trigger, '');
    expect(await local.exited).toBe(1);
    expect(local.stdout()).toBe('');
    expect(local.stderr()).toMatch(new RegExp(`(^|\\r\\x1b\\[K)${line}$`));
  });
});
