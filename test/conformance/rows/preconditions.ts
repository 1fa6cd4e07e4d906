import { describe, expect, test } from 'vitest';
import { expectError, expectSuccess } from '../expectations.ts';
import { readEntry, restoreEntryAfterEach, setQuantity } from '../operations/inventoryEntry.ts';
import { sendValid } from '../operations/suites.ts';
import { sendUpdate, type TargetSource } from '../target.ts';

const malformed = ['nonsense', '"unclosed', 'unopened"', '"a" "b"', '*, "a"', '""extra', 'w/"a"'];

/** The rules of If-Match (RFC 9110, section 13.1.1). */
export function describePreconditions(target: TargetSource): void {
  const update = (quantity: number, headers: Record<string, string>) =>
    sendUpdate(target(), target().fixtures.changeablePetId, `{"quantity":${quantity}}`, headers);
  const quantityNow = async () =>
    (await readEntry(target(), target().fixtures.changeablePetId))?.quantity;

  describe('updateInventory with If-Match', () => {
    restoreEntryAfterEach(target);

    test('gives each version of the entry a strong ETag of its own', async () => {
      const tags = [await setQuantity(target(), 1), await setQuantity(target(), 2)];
      for (const tag of tags) expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
      expect(tags[0]).not.toBe(tags[1]);
    });

    test('updates an entry that has not changed, once per ETag', async () => {
      const tag = await setQuantity(target(), 1);
      const first = await update(2, { 'If-Match': tag });
      expectSuccess(first, 'updateInventory');
      expect(await quantityNow()).toBe(2);

      expectError(await update(3, { 'If-Match': tag }), 'precondition_failed', 'updateInventory');
      expect(await quantityNow()).toBe(2);

      const next = await update(3, { 'If-Match': first.headers.get('ETag') ?? '' });
      expectSuccess(next, 'updateInventory');
      expect(await quantityNow()).toBe(3);
    });

    test('refuses an ETag that another client has overtaken', async () => {
      const tag = await setQuantity(target(), 1);
      await setQuantity(target(), 2);
      expectError(await update(3, { 'If-Match': tag }), 'precondition_failed', 'updateInventory');
      expect(await quantityNow()).toBe(2);
    });

    test.each([
      '"never"',
      '"1"',
      '"-1"',
      '"99999999999999999999999999999999999999999999"',
      '""',
      // Bytes past 0x7f, which a tag may have (RFC 9110 section 8.8.3).
      '"\u00c3\u00a9"',
    ])('refuses %s, which the entry never had, with 412', async (tag) => {
      await setQuantity(target(), 17);
      expectError(await update(3, { 'If-Match': tag }), 'precondition_failed', 'updateInventory');
      expect(await quantityNow()).toBe(17);
    });

    test('compares octet by octet: what decodes to the same bytes is another tag', async () => {
      const tag = (await setQuantity(target(), 3)).slice(1, -1);
      for (const other of [`${tag}=`, `${tag}\u00e9`, ` ${tag}`, `${tag.slice(0, -1)}+`]) {
        const response = await update(4, { 'If-Match': `"${other}"` });
        expect([400, 412], other).toContain(response.status);
      }
      expect(await quantityNow()).toBe(3);
    });

    test('is refused with If-None-Match: *, since the entry exists', async () => {
      const tag = await setQuantity(target(), 3);
      const headers = { 'If-None-Match': '*' };
      const response = await update(4, headers);
      expectError(response, 'precondition_failed', 'updateInventory');
      expect(response.headers.get('ETag')).toBe(tag);
      expect(await quantityNow()).toBe(3);
      const { missingPetId } = target().fixtures;
      const missing = await sendUpdate(target(), missingPetId, '{"quantity":4}', headers);
      expectError(missing, 'not_found', 'updateInventory');
    });

    test('takes * for any version', async () => {
      expectSuccess(await update(4, { 'If-Match': '*' }), 'updateInventory');
      expect(await quantityNow()).toBe(4);
    });

    test('takes a list of which one matches, and refuses one of which none does', async () => {
      const tag = await setQuantity(target(), 5);
      const stale = await update(6, { 'If-Match': '"no", "neither,nor"' });
      expectError(stale, 'precondition_failed', 'updateInventory');
      expectSuccess(
        await update(6, { 'If-Match': `, "no",, "neither,nor",${tag},` }),
        'updateInventory',
      );
      expect(await quantityNow()).toBe(6);
    });

    test('refuses a weak tag: the comparison is strong', async () => {
      const tag = await setQuantity(target(), 7);
      const response = await update(8, { 'If-Match': `W/${tag}` });
      expectError(response, 'precondition_failed', 'updateInventory');
      expect(await quantityNow()).toBe(7);
    });

    test('is unconditional without the header', async () => {
      await setQuantity(target(), 9);
      expectSuccess(await update(10, {}), 'updateInventory');
    });

    test.each(malformed)('answers 400 to %s', async (value) => {
      await setQuantity(target(), 11);
      const response = await update(12, { 'If-Match': value });
      expectError(response, 'invalid_request', 'updateInventory');
      expect(await quantityNow()).toBe(11);
    });

    test.each(['listInventory', 'getPet', 'listOrders'] as const)(
      'has no meaning for %s, whose answers have no ETag',
      async (operationId) => {
        for (const value of ['"never"', 'nonsense']) {
          const response = await sendValid(target(), operationId, {
            headers: { 'If-Match': value },
          });
          expectSuccess(response, operationId);
        }
      },
    );

    test.each(['if-match', 'IF-MATCH'])('finds the header written as %s', async (name) => {
      const response = await update(13, { [name]: '"never"' });
      expectError(response, 'precondition_failed', 'updateInventory');
    });
  });
}
