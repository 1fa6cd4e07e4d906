import { type AttributeValue, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defineKeyRegister, type KeyRegister } from '../../../../infra/cli/keyRegister.ts';
import { mintApiKey, parseApiKey } from '../../../../shared/keys/apiKey.ts';
import { firstEngine } from '../../../support/engines.ts';
import {
  type FaultyEndpoint,
  startFaultyEndpoint,
} from '../../../support/faults/faultyEndpoint.ts';
import { useStoreTables } from '../../../support/storeTables.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, defineCommand, type Outcome } from '../opsProcess.ts';

const runKeys = defineCommand('keys');
const read = ['--permission', 'read'];

/** The one key that is printed, and its key id. */
function toKey({ stdout }: Outcome): { apiKey: string; keyId: string } {
  const [apiKey = '', ...others] = stdout.match(/psk_[0-9A-Za-z]{42}/g) ?? [];
  expect(others).toEqual([]);
  return { apiKey, keyId: parseApiKey(apiKey)?.keyId ?? '' };
}

describe('npx petstore keys', () => {
  const tables = useStoreTables(firstEngine.start);
  let database: FaultyEndpoint;
  let table: string[];
  let register: KeyRegister;
  beforeAll(() => {
    register = defineKeyRegister(tables.client(), 'apiKeys');
  });
  beforeEach(async () => {
    database = await startFaultyEndpoint(tables.engine().endpoint);
    table = ['--endpoint', database.endpoint];
  });
  afterEach(() => database.close());

  const keys = (...args: string[]) => callOps(runKeys, [...args, ...table]);
  const response = (typed: string, ...args: string[]) =>
    callOps(runKeys, [...args, ...table], {}, typed);

  async function create(...options: string[]) {
    const outcome = await keys('create', '--name', 'till', ...read, ...options);
    const key = toKey(outcome);
    // Nothing else, for KEY=$(…).
    expect(outcome.stdout).toBe(`${key.apiKey}\n`);
    expect(outcome.stderr).toMatch(new RegExp(`^Made the key ${key.keyId}\\. [^\n]+\n$`));
    expect(outcome.stderr).not.toContain('psk_');
    return key;
  }

  /** When a key ends, in hours from now; nothing, where it does not. */
  async function hoursLeft(keyId: string, member: 'revokedAt' | 'expiresAt' = 'revokedAt') {
    const time = (await register.get(keyId))?.[member];
    return time && Math.round((Date.parse(time) - Date.now()) / 3_600_000);
  }

  /** Edits a key's record by hand; without a value, the member goes. */
  async function edit(keyId: string, member: string, value?: AttributeValue) {
    const command = new UpdateItemCommand({
      TableName: 'apiKeys',
      Key: { keyId: { S: keyId } },
      UpdateExpression: value ? 'SET #member = :value' : 'REMOVE #member',
      ExpressionAttributeNames: { '#member': member },
      ...(value && { ExpressionAttributeValues: { ':value': value } }),
    });
    await tables.client().send(command);
  }

  const past = { S: '2026-01-01T00:00:00.000Z' };

  it('creates a key, which its holder alone gets to see', async () => {
    const { apiKey, keyId } = await create('--expires', '90d');
    const added = { ConditionExpression: 'attribute_not_exists(keyId)' };
    expect(database.requests).toMatchObject([{ action: 'PutItem', input: added }]);
    expect(await register.get(keyId)).toEqual({
      ...{
        keyId,
        name: 'till',
        permission: 'read',
        secretHash: expect.stringMatching(/^[\w-]{43}$/),
      },
      ...{ createdAt: expect.any(String), expiresAt: expect.any(String) },
    });
    expect(await hoursLeft(keyId, 'expiresAt')).toBe(90 * 24);
    const list = (await keys('list')).stdout;
    expect(list).toMatch(/^KEY ID .* SUCCESSOR$/m);
    expect(list).toMatch(new RegExp(`^${keyId} +till +read +active .* -$`, 'm'));
    const listed = (await keys('list', '--json')).stdout;
    const shown = expect.objectContaining({ keyId, name: 'till', status: 'active' });
    expect(JSON.parse(listed)).toContainEqual(shown);
    expect(list + listed).not.toContain(parseApiKey(apiKey)?.secret);
    expect(list + listed).not.toContain('secretHash');
  });

  it('shows a name from the table without what a terminal would obey', async () => {
    const name = 'till\u202e\u001b[2J\u0085\u{e0001}\nforged';
    const shown = 'till\\u202e\\u001b[2J\\u0085\\udb40\\udc01';
    const { keyId } = await create();
    await edit(keyId, 'name', { S: name });
    expect((await keys('list')).stdout).toContain(`${keyId}  ${shown} forged  read`);
    const json = (await keys('list', '--json')).stdout;
    expect(json).toContain(`"name": "${shown}\\nforged"`);
    expect(JSON.parse(json)).toContainEqual(expect.objectContaining({ name }));
    const asked = await response('n', 'revoke', keyId);
    expect(asked.stderr).toContain(shown);
    expect(asked.stderr).not.toContain('\u202e');
  });

  it.each([
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T18:00:00+02:00', '2027-01-31T16:00:00.000Z'],
  ])('creates a key that ends at %s', async (expires, expiresAt) => {
    const { keyId } = await create('--permission', 'write', '--expires', expires);
    expect(await register.get(keyId)).toMatchObject({ permission: 'write', expiresAt });
  });

  it.each<[string, string, AttributeValue | undefined, RegExp]>([
    ['an end of text', 'expiresAt', { S: 'yesterday' }, / unreadable /],
    ['an end that was', 'expiresAt', past, / till +read +expired /],
    ['no name', 'name', undefined, /^\w+ +- +read /],
    ['no permission', 'permission', undefined, /^\w+ +till +- +unreadable /],
    ['no time of creation', 'createdAt', undefined, /^\w+ +till +read +\w+ +- /],
  ])('lists and revokes a key with %s, and does not rotate it', async (...row) => {
    const [, member, value, listed] = row;
    const { keyId } = await create('--expires', '9d');
    await edit(keyId, member, value);
    const list = await keys('list');
    expect(list.stdout.split('\n').find((line) => line.startsWith(keyId))).toMatch(listed);
    const rotate = await keys('rotate', keyId);
    const refused = expect.stringMatching(/^The [^\n]+: make a new one with create\.\n$/);
    expect(rotate).toEqual({ status: 2, stdout: '', stderr: refused });
    const revoke = await keys('revoke', keyId, '--yes');
    expect(revoke).toMatchObject({ status: 0, stderr: '' });
    const shown = [list, rotate, revoke];
    expect(shown.map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain('undefined');
  });

  it('lists every key, oldest first, or alone what ends within a time, next first', async () => {
    const names: string[] = [];
    for (const expires of ['13d', '15d', '2d']) {
      names.push((await create('--expires', expires)).keyId);
    }
    const rotated = await create();
    const { keyId } = toKey(await keys('rotate', rotated.keyId, '--grace', '3d'));
    expect((await keys('list')).stdout).toMatch(new RegExp(`^${rotated.keyId} .* ${keyId}$`, 'm'));
    const ours = [...names, rotated.keyId, keyId];
    const list = async (...options: string[]) => {
      const all = JSON.parse((await keys('list', ...options, '--json')).stdout);
      return (all as { keyId: string }[]).map((one) => one.keyId).filter((id) => ours.includes(id));
    };
    expect(await list('--expiring', '14d')).toEqual([names[2], rotated.keyId, names[0]]);
    database.pageSize = 2;
    expect(await list()).toEqual(ours);
    const scans = database.requests.filter(({ action }) => action === 'Scan');
    expect(scans.every(({ input }) => input.ConsistentRead)).toBe(true);
    expect((await keys('list', '--expiring', '1s')).stdout).toBe('No key ends within 1s.\n');
  });

  it('rotates a key: the successor works at once, the old key only for its grace', async () => {
    const old = await create('--expires', '10d');
    const rotated = await keys('rotate', old.keyId, '--grace', '2h');
    const { apiKey, keyId } = toKey(rotated);
    expect(rotated.stdout).toBe(`${apiKey}\n`);
    expect(rotated.stderr).toMatch(
      new RegExp(
        `^Made the key ${keyId}, the successor of ${old.keyId} \\(till\\)\\. .+\nThe old key ${old.keyId} works until 20[^\n]+Z\\.\n$`,
      ),
    );
    expect(rotated.stderr).not.toContain('psk_');
    const like = { name: 'till', permission: 'read', originId: old.keyId };
    expect(await register.get(keyId)).toMatchObject(like);
    expect(await hoursLeft(keyId, 'expiresAt')).toBe(240);
    const next = toKey(await keys('rotate', keyId));
    expect(await register.get(next.keyId)).toMatchObject(like);
    expect(await hoursLeft(old.keyId)).toBe(2);
    expect((await keys('list')).stdout).toMatch(new RegExp(`^${old.keyId} .* ending `, 'm'));
    await keys('rotate', old.keyId, '--grace', '24h', '--yes');
    expect(await hoursLeft(old.keyId)).toBe(2);
  });

  it('asks before a second successor while the first works', async () => {
    const { keyId } = await create();
    const first = toKey(await keys('rotate', keyId));
    expect(await hoursLeft(keyId)).toBe(24);
    const { length } = await register.list();
    const refused = { status: 2, stdout: '', stderr: expect.stringContaining('--yes') };
    expect(await keys('rotate', keyId)).toMatchObject(refused);
    const no = await response('n\n', 'rotate', keyId);
    expect(no).toMatchObject({ status: 0, stdout: '' });
    expect(no.stderr).toContain(`its successor ${first.keyId} works. Make another one? [y/N]`);
    expect(no.stderr).toMatch(/Nothing was changed\.\n$/);
    expect(await register.list()).toHaveLength(length);
    const second = toKey(await response('y\n', 'rotate', keyId));
    await keys('revoke', second.keyId, '--yes');
    expect(await keys('rotate', keyId)).toMatchObject({ status: 0 });
    await edit(keyId, 'successorId');
    const { stderr } = await response('n\n', 'rotate', keyId);
    expect(stderr).toContain('its successor (see list, named till) works.');
  });

  it('asks before a rotation without a grace', async () => {
    const { keyId } = await create();
    const args = ['rotate', keyId, '--grace', '0h'];
    const no = await response('\n', ...args);
    expect(no).toMatchObject({ status: 0, stdout: '' });
    expect(no.stderr).toContain(`the key ${keyId} (till, read) ends for good`);
    expect(await hoursLeft(keyId)).toBeUndefined();
    const rotated = await keys(...args, '--yes');
    expect(rotated.stderr).toContain(`The old key ${keyId} has ended: it stops working within`);
    expect(await hoursLeft(keyId)).toBe(-0);
  });

  it('shows the successor before it ends the old key, and reports a failure to end it', async () => {
    const { keyId } = await create();
    database.fail({ action: 'UpdateItem', fault: 'accessDenied' });
    const outcome = await keys('rotate', keyId);
    const successor = toKey(outcome);
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toMatch(/^Made [^\n]+\n[^\n]+\n$/);
    expect(outcome.stderr).toContain(
      `The old key ${keyId} could not be ended, so both it and its successor ${successor.keyId} work. `,
    );
    expect(await hoursLeft(keyId)).toBeUndefined();
  });

  it.each([
    ['rotate', 'could not be ended'],
    ['create', 'was made and could not be shown: revoke it.'],
  ])('says so when nobody saw the key that %s made', async (command, problem) => {
    const { keyId } = await create();
    const options = command === 'rotate' ? [keyId] : ['--name', 'unseen', ...read];
    const broken = new Error('write EPIPE');
    const args = [command, ...options, ...table];
    const { status, stderr } = await callOps(runKeys, args, {}, undefined, broken);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Made [^\n]+\n[^\n]+ The cause: write EPIPE\n$/);
    expect(stderr).toContain(problem);
    expect(await hoursLeft(keyId)).toBeUndefined();
  });

  it('revokes a key at once, and says so when it was already', async () => {
    const { keyId } = await create();
    const unasked = await keys('revoke', keyId);
    expect(unasked).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
    const no = await response('n\n', 'revoke', keyId);
    expect(no.stderr).toContain(`Revoke the key ${keyId} (till, read) for good? [y/N]`);
    expect(await hoursLeft(keyId)).toBeUndefined();
    const revoked = await keys('revoke', keyId, '--yes');
    expect(revoked.stdout).toContain(`Revoked the key ${keyId} (till)`);
    expect(await hoursLeft(keyId)).toBe(-0);
    const again = await keys('revoke', keyId, '--yes');
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('revoked already') });
  });

  /** Staging, with what its check's parameter holds, and `keys check` on it. */
  async function openParameter(Value?: unknown, change: Responses = {}) {
    const parameter: Record<string, unknown> = { Value };
    const aws = await useAws({
      ...describeStack('petstore-staging', { ApiKeysTableName: 'apiKeys' }),
      GetParameter({ Name }) {
        expect(Name).toBe('/petstore-staging/check-key');
        if (parameter.Value) return { Parameter: parameter };
        throw new AwsError('ParameterNotFound', '');
      },
      PutParameter: (input) => Object.assign(parameter, input),
      ...change,
    });
    const variables = { ...aws.variables, AWS_ENDPOINT_URL_DYNAMODB: database.endpoint };
    const check = () => callOps(runKeys, ['check', '--stage', 'staging'], variables);
    return { aws, parameter, check };
  }

  type Made = Awaited<ReturnType<typeof create>>;
  const own = ({ apiKey }: Made) => apiKey;
  it.each<[string, (made: Made) => unknown, ((keyId: string) => unknown)?]>([
    ['nothing', () => undefined],
    ['what is no key', () => 'later'],
    ['a key that was never made', () => mintApiKey().apiKey],
    ['a known key with another secret', ({ keyId }) => mintApiKey(keyId).apiKey],
    ['a revoked key', own, (keyId) => register.revoke(keyId)],
    ['a key that was rotated', own, (keyId) => register.retire(keyId, 'successor1', 3_600_000)],
    ['an expired key', own, (keyId) => edit(keyId, 'expiresAt', past)],
    ['a write key', own, (keyId) => edit(keyId, 'permission', { S: 'write' })],
  ])('makes the key of a stage’s check where its parameter holds %s, once', async (...row) => {
    const [, toValue, change] = row;
    const made = await create();
    await change?.(made.keyId);
    const { aws, parameter, check } = await openParameter(toValue(made));
    const outcome = await check();
    const found = parseApiKey(String(parameter.Value));
    expect(outcome).toEqual({
      status: 0,
      stdout: `Made the read key ${found?.keyId}, named check, and stored it in /petstore-staging/check-key.\n`,
      stderr: '',
    });
    expect(parameter).toMatchObject({ Type: 'SecureString', Overwrite: true });
    const record = await register.get(`${found?.keyId}`);
    expect(record).toMatchObject({ name: 'check', permission: 'read' });
    const again = await check();
    expect(again).toMatchObject({ status: 0, stderr: '' });
    expect(again.stdout).toMatch(`The key ${found?.keyId} in /petstore-staging/check-key works`);
    expect(aws.inputsOf('PutParameter')).toHaveLength(1);
  });

  it.each(['it was revoked', 'it works: npx petstore keys revoke '])(
    'says of a check’s key that could not be stored that %s, and never the key',
    async (end) => {
      const { check, parameter } = await openParameter(undefined, {
        PutParameter({ Value }) {
          parameter.refused = Value;
          throw new AwsError('ValidationException', `Value '${Value}' is not valid`);
        },
      });
      if (!end.includes('was')) database.fail({ action: 'UpdateItem', fault: 'accessDenied' });
      const { status, stdout, stderr } = await check();
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      const refused = parseApiKey(String(parameter.refused));
      expect(stderr).toMatch(
        `The new key ${refused?.keyId} was not stored in /petstore-staging/check-key, and ${end}`,
      );
      expect(stderr).toMatch(/ SSM: ValidationException: Value 'psk_\w{10}…' is not valid\n$/);
      expect(await hoursLeft(`${refused?.keyId}`)).toBe(end.includes('was') ? -0 : undefined);
    },
  );

  it('reports an unknown key and an empty table', async () => {
    const outcome = await keys('revoke', '0000000000');
    const stderr = 'There is no key with the key id 0000000000; see list.\n';
    expect(outcome).toEqual({ status: 2, stdout: '', stderr });
    await register.revoke('0000000000');
    await expect(register.retire('0000000000', 'successor1', 0)).rejects.toThrow();
    expect(await register.get('0000000000')).toBeUndefined();
    const stack = describeStack('petstore-staging', { ApiKeysTableName: 'keys-of-staging' });
    const empty = await useAws({ ...stack, Scan: () => ({}) });
    const { stdout } = await callOps(runKeys, ['list', '--stage', 'staging'], empty.variables);
    expect(stdout).toBe('There are no keys.\n');
    expect(empty.inputsOf('Scan')).toMatchObject([{ TableName: 'keys-of-staging' }]);
  });
});
