import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, it, vi } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import {
  defaultProvider,
  EventStreamSerde,
  readFile,
} from '../../../shared/runtime/sdk/replacements.ts';
import { Sha256 } from '../../../shared/runtime/sdk/sha256.ts';
import { openLocalTarget } from '../../conformance/localTarget.ts';
import { sendValid } from '../../conformance/operations/suites.ts';
import { send } from '../../conformance/target.ts';

it('SHA-256 is the one of FIPS 180-2, appendix B.1', async () => {
  expect(await digest(new Sha256(), 'abc')).toMatch(/^ba7816bf8f01cfea.*f20015ad$/);
});

// https://www.rfc-editor.org/rfc/rfc4231#section-4
const bytes = Uint8Array.from({ length: 20 }, () => 0x0b);
it.each([
  ['text', 'Jefe', 'what do ya want for nothing?', /^5bdcc146bf60754e.*3843$/],
  ['bytes', bytes, 'Hi There', /^b0344c61d8db3853.*cff7$/],
  ['bytes amid others', Uint8Array.from([1, ...bytes, 1]).subarray(1, -1), 'Hi There', /^b0344c61/],
  ['a buffer', bytes.buffer, 'Hi There', /^b0344c61/],
])('with a secret of %s it is the HMAC of RFC 4231, also after a reset', async (...row) => {
  const [, secret, text, expected] = row;
  const hash = new Sha256(secret);
  expect(await digest(hash, text)).toMatch(expected);
  hash.reset();
  expect(await digest(hash, text)).toMatch(expected);
});

async function digest(hash: Sha256, text: string): Promise<string> {
  hash.update(Buffer.from(text.slice(0, 2)));
  hash.update(Buffer.from(text.slice(2)));
  return Buffer.from(await hash.digest()).toString('hex');
}

afterEach(() => vi.unstubAllEnvs());

const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
const missing = 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set.';

it.each([
  ['id', 'secret', 'token', { ...keys, sessionToken: 'token' }],
  ['id', 'secret', undefined, keys],
  [undefined, 'hidden', undefined, missing],
  ['id', undefined, undefined, missing],
])('with %s, %s and %s in the environment, the credentials are %j', async (...row) => {
  const [id, secret, token, expected] = row;
  vi.stubEnv('AWS_ACCESS_KEY_ID', id);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
  expect(await defaultProvider()().catch(({ message }) => message)).toEqual(expected);
});

it('an event stream is refused, and a file is read as by node:fs/promises', async () => {
  expect(EventStreamSerde).toThrow('The bundles leave event streams out');
  expect(await readFile(import.meta.filename, 'utf8')).toContain('is read as by');
  await expect(readFile('absent', 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
});

it('clients that cache middleware keep theirs, and send no command with its own', async () => {
  const target = await openLocalTarget();
  const { send: sendCommand } = DynamoDBClient.prototype;
  const stacks = new Map<DynamoDBClient, string>();
  const cached = new Set<string>();
  let others = 0;
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(function (
    this: DynamoDBClient,
    ...args: never[]
  ) {
    const [command] = args as unknown as [{ middlewareStack: { identify(): string[] } }];
    const own = command.middlewareStack.identify();
    if (this.config.cacheMiddleware === true) {
      cached.add(command.constructor.name);
      expect(own).toEqual([]);
      const stack = this.middlewareStack.identify().join();
      expect(stacks.get(this) ?? stack).toBe(stack);
      stacks.set(this, stack);
    } else if (own.length > 0) others += 1;
    return sendCommand.apply(this, args as never);
  } as never);
  for (const id of operationIds) expect((await sendValid(target, id)).status).toBe(200);
  for (const query of ['?limit=1', '?petId=1', '?petId=1,2', '?include=etag']) {
    expect((await send(target, 'GET', `/inventory${query}`)).status).toBe(200);
  }
  const headers = { 'Idempotency-Key': 'once' };
  for (const _ of 'ab') await sendValid(target, 'updateInventory', { headers });
  vi.restoreAllMocks();
  await target.close();
  expect([stacks.size, cached.size]).toEqual([operationIds.length, 5]);
  expect(others).toBeGreaterThan(0);
});
