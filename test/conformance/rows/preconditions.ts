import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../shared/contract/errorBody.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { expectError, expectReadableFrom, expectSuccess } from '../expectations.ts';
import { readQuantity, restoreEntryAfterEach, setQuantity } from '../operations/operationSuite.ts';
import { sendValid } from '../operations/suites.ts';
import { send, sendUpdate, type TargetSource } from '../target.ts';

// Bytes past 0x7f may stand in a tag (RFC 9110 section 8.8.3).
const foreignTags = ['"never"', '"1"', '"-1"', `"${'9'.repeat(44)}"`, '""', '"\u00c3\u00a9"'];
const malformedTags = [
  ...['nonsense', '"unclosed', 'unopened"', '"a" "b"'],
  ...['*, "a"', '""extra', 'w/"a"'],
];

/** The rules of If-Match and If-None-Match (RFC 9110, section 13.1), and what an update says to an Idempotency-Key. */
export function describePreconditions(target: TargetSource): void {
  const update = (quantity: number, headers: Record<string, string>) =>
    sendUpdate(target(), target().fixtures.changeablePetId, `{"quantity":${quantity}}`, headers);

  /** @returns the new ETag */
  async function succeed(quantity: number, headers: Record<string, string>): Promise<string> {
    const response = await update(quantity, headers);
    expectSuccess(response, 'updateInventory');
    expect(await readQuantity(target())).toBe(quantity);
    return response.headers.get('ETag') ?? '';
  }

  async function refuse(
    code: ErrorCode,
    headers: Record<string, string>,
    tag: string | null = expect.anything(),
  ): Promise<void> {
    const before = await readQuantity(target());
    const response = await update(17, headers);
    expectError(response, code, 'updateInventory');
    if (code === 'precondition_failed') expect(response.headers.get('ETag')).toEqual(tag);
    expect(await readQuantity(target())).toBe(before);
  }

  describe.each(['listInventory', 'getInventoryEntry'] as const)('%s with If-None-Match', (id) => {
    const get = (value: string) =>
      sendValid(target(), id, { headers: { 'If-None-Match': value, Origin: target().origin } });

    test('returns 304 without a body while nothing changes', async () => {
      const { headers } = await get('');
      const [tag = '', weak = '', opaque = ''] =
        /^(W\/)?("[\x21\x23-\x7e]+")$/.exec(headers.get('ETag') ?? '') ?? [];
      expect(weak).toBe(id === 'listInventory' ? 'W/' : '');
      for (const value of [opaque, `W/${opaque}`, `"x", ${tag}`, `, W/"x",,${tag},`, ' * ', '*']) {
        const response = await get(value);
        expect([response.status, value]).toEqual([304, value]);
        expect(response.bytes).toHaveLength(0);
        for (const name of ['ETag', 'Vary']) {
          expect(response.headers.get(name)).toBe(headers.get(name));
        }
        expect(response.headers.get('X-Request-Id')).toBeTruthy();
        expectReadableFrom(target().origin, response);
      }
    });

    test.each(['"x"', 'W/"x"', 'nonsense', '"a" "b"', '*, "a"', ''])(
      'returns 200 to %j',
      async (value) => expectSuccess(await get(value), id),
    );
  });

  describe('updateInventory with If-Match', () => {
    restoreEntryAfterEach(target);

    test('gives each version of the entry a strong ETag of its own', async () => {
      const tags = [await setQuantity(target(), 1), await setQuantity(target(), 2)];
      for (const tag of tags) expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
      expect(tags[0]).not.toBe(tags[1]);
    });

    async function readListed(query: string): Promise<string | undefined> {
      const response = await send(target(), 'GET', `/inventory?include=etag${query}`);
      const listed = response.json() as { petId: number | bigint; etag: string }[];
      const { changeablePetId } = target().fixtures;
      return listed.find(({ petId }) => BigInt(petId) === changeablePetId)?.etag;
    }

    const readTag = {
      'the whole list': () => readListed(''),
      'a list of some ids': () => readListed(`&petId=${target().fixtures.changeablePetId}`),
      'the entry': async () =>
        (await sendValid(target(), 'getInventoryEntry')).headers.get('ETag') ?? undefined,
    };

    test.each(Object.entries(readTag))('takes the tag of %s once', async (_, read) => {
      const tag = (await read()) ?? '';
      const next = await succeed(2, { 'If-Match': tag });
      await refuse('precondition_failed', { 'If-Match': tag }, next);
      for (const readAgain of Object.values(readTag)) expect(await readAgain()).toBe(next);
      await succeed(3, { 'If-Match': next });
    });

    test.each(foreignTags)('refuses %s, which the entry never had, with 412', (tag) =>
      refuse('precondition_failed', { 'If-Match': tag }),
    );

    test('compares octet by octet: what decodes to the same bytes is another tag', async () => {
      const tag = (await setQuantity(target(), 3)).slice(1, -1);
      for (const other of [`${tag}=`, `${tag}\u00e9`, ` ${tag}`, `${tag.slice(0, -1)}+`]) {
        const response = await update(4, { 'If-Match': `"${other}"` });
        expect([400, 412], other).toContain(response.status);
      }
      expect(await readQuantity(target())).toBe(3);
    });

    test('is refused with If-None-Match: *, since the entry exists', async () => {
      const tag = await setQuantity(target(), 3);
      const headers = { 'If-None-Match': '*' };
      await refuse('precondition_failed', headers, tag);
      const { missingPetId } = target().fixtures;
      const missing = await sendUpdate(target(), missingPetId, '{"quantity":4}', headers);
      expectError(missing, 'not_found', 'updateInventory');
    });

    test('takes a list of which one matches, and refuses one of which none does, or only weakly', async () => {
      const old = await setQuantity(target(), 4);
      const tag = await setQuantity(target(), 5);
      for (const tags of ['"no", "neither,nor"', `W/${tag}`]) {
        await refuse('precondition_failed', { 'If-Match': tags });
      }
      await succeed(6, { 'If-Match': `, "no",, "neither,nor",${old},${tag},` });
    });

    test.each([{}, { 'If-Match': '*' }])('takes any version after %j', async (headers) => {
      await setQuantity(target(), 9);
      await succeed(10, headers);
    });

    test.each(malformedTags)('returns 400 for %s', (value) =>
      refuse('invalid_request', { 'If-Match': value }),
    );

    test.each(operationIds.filter((id) => operations[id].permission === 'read'))(
      'has no meaning for %s, which changes nothing',
      async (operationId) => {
        for (const value of ['"never"', 'nonsense']) {
          const headers = { 'If-Match': value };
          expectSuccess(await sendValid(target(), operationId, { headers }), operationId);
        }
      },
    );

    test.each(['if-match', 'IF-MATCH'])('finds the header written as %s', (name) =>
      refuse('precondition_failed', { [name]: '"never"' }),
    );
  });

  describe('updateInventory with Idempotency-Key', () => {
    restoreEntryAfterEach(target);

    test.each(['order-1234', '', 'a b', 'x'.repeat(256)])(
      'returns 400, which says what to send instead, and changes nothing: %j',
      async (key) => {
        const before = await readQuantity(target());
        for (const guard of [{}, { 'If-Match': await setQuantity(target(), before) }]) {
          const response = await update(17, { ...guard, 'Idempotency-Key': key });
          expectError(response, 'invalid_request', 'updateInventory');
          expect(response.json()).toMatchObject({
            message: expect.stringContaining('send If-Match, or sell and return by POST'),
          });
          expect(await readQuantity(target())).toBe(before);
        }
      },
    );

    test('is checked after key, permission, path, media type and body, as If-Match is', async () => {
      const { changeablePetId, missingPetId } = target().fixtures;
      const key = { 'Idempotency-Key': 'order-1234' };
      const sendKeyed = (body: string, headers = {}, petId = changeablePetId) =>
        sendUpdate(target(), petId, body, { ...key, ...headers });
      const invalidBody = await sendKeyed('{"quantity":-1}');
      expectError(invalidBody, 'invalid_request', 'updateInventory');
      expect(invalidBody.text).toContain('quantity');
      const media = await sendKeyed('{"quantity":1}', { 'Content-Type': 'text/plain' });
      expectError(media, 'unsupported_media_type', 'updateInventory');
      const missing = await sendKeyed('{"quantity":1}', {}, missingPetId);
      expectError(missing, 'invalid_request', 'updateInventory');
    });
  });
}
