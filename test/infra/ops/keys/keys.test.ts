import { beforeAll, describe, expect, it } from 'vitest';
import { runKeys } from '../../../../infra/ops/keys/runKeys.ts';
import { parseApiKey } from '../../../../shared/keys/apiKey.ts';
import { defineKeyRegister } from '../../../../shared/keys/keyRegister.ts';
import { defineKeyStore } from '../../../../shared/keys/keyStore.ts';
import { defineKeyVerifier } from '../../../../shared/keys/keyVerifier.ts';
import { engines } from '../../../support/engines.ts';
import { useStoreTables } from '../../../support/storeTables.ts';
import { startCloudFormation } from '../cloudFormation.ts';
import { callOps, runOps } from '../opsProcess.ts';

const keyPattern = /psk_[0-9A-Za-z]{42}/g;
const keys = (...args: string[]) => callOps(runKeys, args);

describe.each(engines)('npm run keys on $name', ({ start }) => {
  const tables = useStoreTables(start);
  let table: string[];
  beforeAll(() => {
    table = ['--endpoint', tables.engine().endpoint, '--table', 'apiKeys'];
  });

  async function create(...options: string[]): Promise<{ apiKey: string; keyId: string }> {
    const { stdout, stderr } = await keys('create', ...options, ...table);
    expect(stderr).toBe('');
    const [apiKey = '', ...others] = stdout.match(keyPattern) ?? [];
    expect(others).toEqual([]);
    return { apiKey, keyId: parseApiKey(apiKey)?.keyId ?? '' };
  }

  /** A new verifier each time, as in a container that starts then. */
  function verify(apiKey: string, hoursAhead = 0) {
    const store = defineKeyStore(tables.client(), 'apiKeys');
    return defineKeyVerifier(store, () => Date.now() + hoursAhead * 3_600_000).verify(apiKey);
  }

  it('creates a key that lets its holder in, until it expires', async () => {
    const { apiKey, keyId } = await create(
      ...['--name', 'storefront-web', '--permission', 'read', '--expires', '90d'],
    );
    expect(await verify(apiKey)).toEqual({ keyId, name: 'storefront-web', permission: 'read' });
    expect(await verify(apiKey, 90 * 24 - 1)).toBeDefined();
    await expect(verify(apiKey, 90 * 24 + 1)).rejects.toMatchObject({ reason: 'expired key' });
  });

  it('lists and shows keys, for people and for machines, without a hash or a secret', async () => {
    const { apiKey, keyId } = await create('--name', 'backend', '--permission', 'write');
    const list = await keys('list', ...table);
    expect(list.stdout).toMatch(new RegExp(`^${keyId} +backend +write +active `, 'm'));
    const listed = JSON.parse((await keys('list', '--json', ...table)).stdout) as unknown[];
    const shown = JSON.parse((await keys('show', keyId, '--json', ...table)).stdout) as object;
    expect(shown).toMatchObject({ keyId, name: 'backend', permission: 'write', status: 'active' });
    expect(listed).toContainEqual(shown);
    const show = await keys('show', keyId, ...table);
    expect(show.stdout).toMatch(/^permission {2}write$/m);
    const printed = list.stdout + JSON.stringify(listed) + JSON.stringify(shown) + show.stdout;
    expect(printed).not.toContain(parseApiKey(apiKey)?.secret);
    expect(printed).not.toContain('secretHash');
  });

  it('rotates a key: a like successor at once, the old one for its grace', async () => {
    const old = await create('--name', 'till', '--permission', 'write', '--expires', '10d');
    const rotated = await keys('rotate', old.keyId, '--grace', '2h', ...table);
    const [successor = ''] = rotated.stdout.match(keyPattern) ?? [];
    expect(rotated.stdout).toContain(`the old key ${old.keyId} works until 20`);
    expect(await verify(successor)).toMatchObject({ name: 'till', permission: 'write' });
    await expect(verify(successor, 241)).rejects.toMatchObject({ reason: 'expired key' });
    expect(await verify(old.apiKey, 1)).toMatchObject({ keyId: old.keyId });
    await expect(verify(old.apiKey, 3)).rejects.toMatchObject({ reason: 'revoked key' });
    expect((await keys('show', old.keyId, ...table)).stdout).toMatch(/^status {6}ending$/m);
  });

  it('never gives a key that is about to end more time by rotating it again', async () => {
    const { keyId, apiKey } = await create('--name', 'till', '--permission', 'read');
    await keys('rotate', keyId, '--grace', '1h', ...table);
    await keys('rotate', keyId, '--grace', '24h', ...table);
    await expect(verify(apiKey, 2)).rejects.toMatchObject({ reason: 'revoked key' });
  });

  it('warns of a key that has a successor at work, and of no other', async () => {
    const { keyId } = await create('--name', 'twice', '--permission', 'read');
    const rotate = async () => {
      const { stdout, stderr } = await keys('rotate', keyId, ...table);
      const [apiKey = ''] = stdout.match(keyPattern) ?? [];
      return { stderr, successorId: parseApiKey(apiKey)?.keyId ?? '' };
    };
    const first = await rotate();
    expect(first.stderr).toBe('');
    const second = await rotate();
    expect(second.stderr).toMatch(/^Warning: [^\n]+ revoke the one that is not used\.\n$/);
    expect(second.stderr).toContain(first.successorId);
    await keys('revoke', second.successorId, '--yes', ...table);
    expect((await rotate()).stderr).toBe('');
  });

  it('warns of a key that was rotated before its successor was written down', async () => {
    const { keyId } = await create('--name', 'early', '--permission', 'read');
    const register = defineKeyRegister(tables.client(), 'apiKeys');
    const record = await register.get(keyId);
    if (record) await register.put({ ...record, rotatedAt: '2026-11-20T10:00:00.000Z' });
    const { stderr } = await keys('rotate', keyId, ...table);
    expect(stderr).toContain('(see list, named early)');
  });

  it('revokes a key at once, and says so when it was already', async () => {
    const { apiKey, keyId } = await create('--name', 'lost', '--permission', 'read');
    const revoked = await keys('revoke', keyId, '--yes', ...table);
    expect(revoked.stdout).toContain(`Revoked the key ${keyId} (lost)`);
    await expect(verify(apiKey)).rejects.toMatchObject({ reason: 'revoked key' });
    const again = await keys('revoke', keyId, '--yes', ...table);
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('revoked already') });
    const rotated = await keys('rotate', keyId, ...table);
    expect(rotated).toMatchObject({ status: 2, stderr: expect.stringContaining('is revoked') });
  });

  it('revokes nothing without --yes where there is no terminal to ask on', async () => {
    const { apiKey, keyId } = await create('--name', 'kept', '--permission', 'read');
    const outcome = await keys('revoke', keyId, ...table);
    expect(outcome).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
    expect(await verify(apiKey)).toMatchObject({ name: 'kept' });
  });

  it('finds a stage’s table through the output of its stack', async () => {
    const cloudFormation = await startCloudFormation('petstore-staging', {
      BaseUrl: 'https://x/v1',
      ApiKeysTableName: 'apiKeys',
    });
    const outcome = await callOps(
      runKeys,
      ['create', '--name', 'staged', '--permission', 'read', '--stage', 'staging'],
      cloudFormation.toVariables(tables.engine().endpoint),
    );
    cloudFormation.close();
    expect(outcome.stderr).toBe('');
    const [apiKey = ''] = outcome.stdout.match(keyPattern) ?? [];
    expect(await verify(apiKey)).toMatchObject({ name: 'staged' });
  });

  it('knows no key that was never made', async () => {
    const outcome = await keys('show', '0000000000', ...table);
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
    expect(outcome.stderr).toBe('There is no key with the key id 0000000000; see list.\n');
  });
});

describe('npm run keys', () => {
  const table = ['--endpoint', 'http://127.0.0.1:9', '--table', 'apiKeys'];
  const wholeKey = 'psk_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

  it.each([
    [['destroy'], 'no command "destroy"'],
    [['constructor'], 'no command "constructor"'],
    [['list'], '--stage staging|production'],
    [['list', '--stage', 'toString'], '--stage must be staging or production'],
    [['list', '--stage', 'staging', ...table], '--stage staging|production'],
    [['list', '--table', 'apiKeys'], '--stage staging|production'],
    [['list', '--endpoint', 'nowhere', '--table', 'apiKeys'], '--endpoint must be a URL'],
    [['list', '--grace', '1h', ...table], '--grace'],
    [['list', 'surplus', ...table], 'Too many words'],
    [['create', '--permission', 'read', ...table], '--name must be'],
    [['create', '--name', 'a b', '--permission', 'read', ...table], '--name must be'],
    [['create', '--name', 'a', '--permission', 'admin', ...table], '--permission must be'],
    [['create', '--name', 'a', '--permission', 'read', '--expires', '90', ...table], '--expires'],
    [['create', '--name', 'a', '--permission', 'read', '--expires', '0d', ...table], '--expires'],
    [
      ['create', '--name', 'a', '--permission', 'read', '--expires', '9999d', ...table],
      '--expires',
    ],
    [['rotate', 'abcdefghij', '--grace', '-1h', ...table], '--grace'],
    [['show', ...table], 'KEY_ID must be'],
    [['revoke', wholeKey, ...table], 'KEY_ID must be'],
  ])('refuses %j with one clear line and status 2', async (args, message) => {
    const { status, stdout, stderr } = await keys(...args);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain(wholeKey);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it('says in one line, with status 1, that the table cannot be reached', async () => {
    const { status, stdout, stderr } = await keys('list', ...table);
    expect(stderr).toContain('ECONNREFUSED');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  it('is a command of its own, which says in one line what is wrong with it', async () => {
    const outcome = await runOps('infra/ops/keys/keys.ts', ['destroy']);
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
    expect(outcome.stderr).toMatch(/^There is no command "destroy"[^\n]+\n$/);
  });

  it('explains itself', async () => {
    const all = await keys('--help');
    for (const name of ['create', 'list', 'show', 'rotate', 'revoke']) {
      expect(all.stdout).toContain(`  ${name}`);
      const one = await keys(name, '--help');
      expect(one).toMatchObject({ status: 0, stderr: '' });
      expect(one.stdout).toContain(`npm run keys -- ${name}`);
    }
  });
});
