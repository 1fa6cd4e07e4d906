import { type AttributeValue, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { runKeys } from '../../../../infra/ops/keys/runKeys.ts';
import { parseApiKey } from '../../../../shared/keys/apiKey.ts';
import { defineKeyRegister } from '../../../../shared/keys/keyRegister.ts';
import { defineKeyStore } from '../../../../shared/keys/keyStore.ts';
import { defineKeyVerifier } from '../../../../shared/keys/keyVerifier.ts';
import { engines } from '../../../support/engines.ts';
import { startFaultyEndpoint } from '../../../support/faults/faultyEndpoint.ts';
import { useStoreTables } from '../../../support/storeTables.ts';
import { startCloudFormation } from '../cloudFormation.ts';
import { callOps, runUnread } from '../opsProcess.ts';

const script = 'infra/ops/keys/keys.ts';
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

  it.each<AttributeValue>([{ S: 'yesterday' }, { N: '1764547200' }])(
    'lists a key that ends at %j as unreadable, since it is refused, and does not rotate it',
    async (time) => {
      const { keyId } = await create('--name', 'edited', '--permission', 'read');
      const edit = {
        TableName: 'apiKeys',
        Key: { keyId: { S: keyId } },
        UpdateExpression: 'SET expiresAt = :time',
        ExpressionAttributeValues: { ':time': time },
      };
      await tables.client().send(new UpdateItemCommand(edit));
      const { stdout } = await keys('list', ...table);
      expect(stdout.split('\n').find((line) => line.startsWith(keyId))).toContain('unreadable');
      const { stderr } = await keys('rotate', keyId, ...table);
      expect(stderr).toContain(`The key ${keyId} is unreadable: make a new one with create.`);
    },
  );

  it.each(['name', 'permission', 'createdAt'])(
    'lists, shows and revokes a key without its %s, and does not rotate it',
    async (member) => {
      const { keyId } = await create(
        ...['--name', 'cut', '--permission', 'read', '--expires', '9d'],
      );
      const edit = {
        TableName: 'apiKeys',
        Key: { keyId: { S: keyId } },
        UpdateExpression: 'REMOVE #member',
        ExpressionAttributeNames: { '#member': member },
      };
      await tables.client().send(new UpdateItemCommand(edit));
      const list = await keys('list', ...table);
      const cells = list.stdout.split('\n').find((line) => line.startsWith(keyId));
      const column = { name: 1, permission: 2, createdAt: 4 }[member] ?? 0;
      expect(cells?.split(/ {2,}/)[column]).toBe('-');
      const shown = JSON.parse((await keys('show', keyId, '--json', ...table)).stdout);
      expect(shown).not.toHaveProperty(member);
      expect(JSON.parse((await keys('list', '--json', ...table)).stdout)).toContainEqual(shown);
      const show = await keys('show', keyId, ...table);
      const rotate = await keys('rotate', keyId, ...table);
      const refused = expect.stringMatching(/^The [^\n]+: make a new one with create\.\n$/);
      expect(rotate).toEqual({ status: 2, stdout: '', stderr: refused });
      const revoke = await keys('revoke', keyId, '--yes', ...table);
      expect(revoke).toMatchObject({ status: 0, stderr: '' });
      const printed = [list, show, rotate, revoke].map(({ stdout, stderr }) => stdout + stderr);
      expect(printed.join()).not.toContain('undefined');
    },
  );

  it.each([
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T18:00:00+02:00', '2027-01-31T16:00:00.000Z'],
    ['2027-01-31T18:00:00.250Z', '2027-01-31T18:00:00.250Z'],
  ])('creates a key that ends at %s', async (expires, expiresAt) => {
    const options = ['--name', 'dated', '--permission', 'read', '--expires', expires];
    const { keyId } = await create(...options);
    const { stdout } = await keys('show', keyId, '--json', ...table);
    expect(JSON.parse(stdout)).toMatchObject({ expiresAt });
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
    expect(rotated.stdout).toMatch(
      new RegExp(
        `^Made [\\s\\S]+\n${successor}\nThe old key ${old.keyId} works until 20[\\s\\S]+Z\\.\n$`,
      ),
    );
    expect(await verify(successor)).toMatchObject({ name: 'till', permission: 'write' });
    await expect(verify(successor, 241)).rejects.toMatchObject({ reason: 'expired key' });
    expect(await verify(old.apiKey, 1)).toMatchObject({ keyId: old.keyId });
    await expect(verify(old.apiKey, 3)).rejects.toMatchObject({ reason: 'revoked key' });
    expect((await keys('show', old.keyId, ...table)).stdout).toMatch(/^status {6}ending$/m);
  });

  it('never gives a key that is about to end more time by rotating it again', async () => {
    const { keyId, apiKey } = await create('--name', 'till', '--permission', 'read');
    await keys('rotate', keyId, '--grace', '1h', ...table);
    await keys('rotate', keyId, '--grace', '24h', '--yes', ...table);
    await expect(verify(apiKey, 2)).rejects.toMatchObject({ reason: 'revoked key' });
  });

  it('makes no second successor, while the first is at work, without being told to', async () => {
    const { keyId } = await create('--name', 'twice', '--permission', 'read');
    const rotate = async (...options: string[]) => {
      const { status, stdout, stderr } = await keys('rotate', keyId, ...options, ...table);
      const [apiKey = ''] = stdout.match(keyPattern) ?? [];
      return { status, stderr, successorId: parseApiKey(apiKey)?.keyId };
    };
    const first = await rotate();
    expect(first).toMatchObject({ status: 0, stderr: '', successorId: expect.any(String) });
    const { length } = await defineKeyRegister(tables.client(), 'apiKeys').list();
    const refused = { status: 2, stderr: expect.stringContaining('--yes'), successorId: undefined };
    expect(await rotate()).toEqual(refused);
    expect(await defineKeyRegister(tables.client(), 'apiKeys').list()).toHaveLength(length);
    const second = await rotate('--yes');
    expect(second).toMatchObject({ status: 0, stderr: '', successorId: expect.any(String) });
    await keys('revoke', second.successorId ?? '', '--yes', ...table);
    expect(await rotate()).toMatchObject({ status: 0, stderr: '' });
  });

  it('asks which of two successors there is to be, and takes no for an answer', async () => {
    const { keyId, apiKey } = await create('--name', 'asked', '--permission', 'read');
    const { stdout } = await keys('rotate', keyId, ...table);
    const successorId = parseApiKey(stdout.match(keyPattern)?.[0] ?? '')?.keyId;
    const args = ['rotate', keyId, ...table];
    const no = await callOps(runKeys, args, {}, 'n\n');
    expect(no).toMatchObject({ status: 0, stdout: 'Nothing was changed.\n' });
    expect(no.stderr).toContain(`its successor ${successorId} works. Make another one? [y/N]`);
    const yes = await callOps(runKeys, args, {}, 'y\n');
    expect(yes.stdout.match(keyPattern)).toHaveLength(1);
    expect(await verify(apiKey)).toMatchObject({ keyId });
  });

  it('asks about a key that was rotated before its successor was written down', async () => {
    const { keyId } = await create('--name', 'early', '--permission', 'read');
    const register = defineKeyRegister(tables.client(), 'apiKeys');
    const record = await register.get(keyId);
    if (record) await register.put({ ...record, rotatedAt: '2026-11-20T10:00:00.000Z' });
    const args = ['rotate', keyId, ...table];
    const { stderr } = await callOps(runKeys, args, {}, 'n\n');
    expect(stderr).toContain('its successor (see list, named early) works.');
  });

  it('asks before a rotation without a grace ends the old key at once', async () => {
    const { keyId, apiKey } = await create('--name', 'leaked', '--permission', 'read');
    const args = ['rotate', keyId, '--grace', '0h', ...table];
    expect(await keys(...args)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('--yes'),
    });
    const no = await callOps(runKeys, args, {}, '\n');
    expect(no).toMatchObject({ status: 0, stdout: 'Nothing was changed.\n' });
    expect(no.stderr).toContain(`the key ${keyId} (leaked, read) ends for good`);
    expect(await verify(apiKey)).toMatchObject({ keyId });
    const { stdout } = await keys(...args, '--yes');
    expect(stdout).toContain(`The old key ${keyId} has ended: within a minute`);
    await expect(verify(apiKey)).rejects.toMatchObject({ reason: 'revoked key' });
    expect(await verify(stdout.match(keyPattern)?.[0] ?? '')).toMatchObject({ name: 'leaked' });
  });

  it('shows the successor before it ends the old key, and says when it could not end it', async () => {
    const { keyId, apiKey } = await create('--name', 'between', '--permission', 'read');
    const database = await startFaultyEndpoint(tables.engine().endpoint);
    database.fail({ action: 'UpdateItem', fault: 'accessDenied' });
    const args = ['rotate', keyId, '--endpoint', database.endpoint, '--table', 'apiKeys'];
    const { status, stdout, stderr } = await keys(...args);
    await database.close();
    const [successor = ''] = stdout.match(keyPattern) ?? [];
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^The old key \w{10} could not be ended, so both it and its successor \w{10} work\.[^\n]+\n$/,
    );
    expect(stderr).toContain(`its successor ${parseApiKey(successor)?.keyId} work`);
    expect(await verify(successor)).toMatchObject({ name: 'between' });
    expect(await verify(apiKey, 48)).toMatchObject({ keyId });
  });

  it.each([
    ['revoked', 'Somebody else revoked the key'],
    ['rotated without a grace', 'Somebody else rotated the key'],
  ])(
    'leaves ended a key that somebody else has %s in the meantime, and says so',
    async (did, says) => {
      const { keyId, apiKey } = await create('--name', 'race', '--permission', 'read');
      const register = defineKeyRegister(tables.client(), 'apiKeys');
      const database = await startFaultyEndpoint(tables.engine().endpoint);
      const { promise: until, resolve } = Promise.withResolvers<void>();
      // Carried out only then; the loss of its connection makes no difference.
      database.fail({ action: 'UpdateItem', fault: 'resetAfterwards', times: 1, until });
      const rotating = keys('rotate', keyId, '--endpoint', database.endpoint, '--table', 'apiKeys');
      await vi.waitFor(() => expect(database.calls.get('UpdateItem')).toBe(1));
      if (did === 'revoked') await register.revoke(keyId);
      else await register.retire(keyId, 'successor1', 0);
      const ended = await register.get(keyId);
      resolve();
      const { status, stdout, stderr } = await rotating;
      await database.close();
      const [successor = ''] = stdout.match(keyPattern) ?? [];
      const successorId = parseApiKey(successor)?.keyId;
      expect(status).toBe(0);
      expect(stdout).toContain(`The old key ${keyId} has ended`);
      expect(stderr).toMatch(new RegExp(`^${says} ${keyId} in the meantime[^\n]+\n$`));
      expect(stderr).toContain(successorId);
      if (did !== 'revoked') expect(stderr).toContain('the successor successor1.');
      expect(await register.get(keyId)).toMatchObject({ revokedAt: ended?.revokedAt, successorId });
      await expect(verify(apiKey)).rejects.toMatchObject({ reason: 'revoked key' });
      expect(await verify(successor)).toMatchObject({ name: 'race' });
    },
  );

  it('takes its own update for nobody else’s when the answer to it is lost', async () => {
    const { keyId } = await create('--name', 'lost', '--permission', 'read');
    const database = await startFaultyEndpoint(tables.engine().endpoint);
    database.fail({ action: 'UpdateItem', fault: 'lostAnswer', times: 1 });
    const args = ['rotate', keyId, '--endpoint', database.endpoint, '--table', 'apiKeys'];
    const { status, stdout, stderr } = await keys(...args);
    expect(database.calls.get('UpdateItem')).toBe(2);
    await database.close();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`The old key ${keyId} works until `);
  });

  it.each([
    ['rotate', 'could not be ended'],
    ['create', 'was made and could not be shown'],
  ])('says so when nobody saw the key that %s made', async (command, problem) => {
    const { keyId, apiKey } = await create('--name', 'unseen', '--permission', 'read');
    const options = command === 'rotate' ? [keyId] : ['--name', 'unseen', '--permission', 'read'];
    const { status, stderr } = await runUnread(script, [command, ...options, ...table], 'before');
    expect(status).toBe(1);
    expect(stderr).toContain(problem);
    expect(stderr).toContain('The cause: write EPIPE');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(await verify(apiKey, 48)).toMatchObject({ keyId });
  });

  it('says nothing when nobody reads a list on', async () => {
    expect(await runUnread(script, ['list', ...table], 'before')).toEqual({
      status: 141,
      stderr: '',
    });
  });

  it('lists the successor of a key, and alone what ends within a time, next first', async () => {
    const ids = new Map<string, string>();
    for (const [name, expires] of [
      ['ending-late', '13d'],
      ['ending-never', undefined],
      ['ending-too-late', '15d'],
      ['ending-soon', '2d'],
      ['ending-rotated', undefined],
    ] as const) {
      const options = expires === undefined ? [] : ['--expires', expires];
      ids.set(name, (await create('--name', name, '--permission', 'read', ...options)).keyId);
    }
    const rotatedId = ids.get('ending-rotated') ?? '';
    const { stdout } = await keys('rotate', rotatedId, '--grace', '3d', ...table);
    const successorId = parseApiKey(stdout.match(keyPattern)?.[0] ?? '')?.keyId;
    const all = await keys('list', ...table);
    expect(all.stdout).toMatch(/^KEY ID .* SUCCESSOR$/m);
    expect(all.stdout).toMatch(new RegExp(`^${rotatedId} .* ${successorId}$`, 'm'));
    expect(all.stdout).toMatch(new RegExp(`^${ids.get('ending-never')} .* -$`, 'm'));
    const ending = await keys('list', '--expiring', '14d', '--json', ...table);
    const names = (JSON.parse(ending.stdout) as { name: string }[]).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('ending-'))).toEqual([
      'ending-soon',
      'ending-rotated',
      'ending-late',
    ]);
    expect((await keys('list', '--expiring', '1s', ...table)).stdout).toBe(
      'No key ends within 1s.\n',
    );
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
    ...['2027-02-30', '2027-01-31T18:00:00', '2026-01-31', '2037-12-31', '31.1.2027', '0s'].map(
      (time): [string[], string] => [
        ['create', '--name', 'a', '--permission', 'read', '--expires', time, ...table],
        '--expires must',
      ],
    ),
    [['list', '--expiring', 'soon', ...table], '--expiring'],
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

  it('explains each of its commands', async () => {
    const all = await keys('--help');
    for (const name of ['create', 'list', 'show', 'rotate', 'revoke']) {
      expect(all.stdout).toContain(`  ${name}`);
      const one = await keys(name, '--help');
      expect(one).toMatchObject({ status: 0, stderr: '' });
      expect(one.stdout).toContain(`npm run keys -- ${name}`);
    }
  });
});
