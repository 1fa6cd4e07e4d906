import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { expectError, expectSuccess } from '../expectations.ts';
import { readEntry, restoreEntryAfterEach, setQuantity } from '../operations/inventoryEntry.ts';
import { sendUpdate, type TargetSource } from '../target.ts';

const malformed = [' ', 'a b', 'a'.repeat(256), 'é', ''];

/** The rules of Idempotency-Key (draft-ietf-httpapi-idempotency-key-header). */
export function describeIdempotency(target: TargetSource): void {
  const update = (quantity: number, headers: Record<string, string>) =>
    sendUpdate(target(), target().fixtures.changeablePetId, `{"quantity":${quantity}}`, headers);
  const quantityNow = async () =>
    (await readEntry(target(), target().fixtures.changeablePetId))?.quantity;

  describe('updateInventory with Idempotency-Key', () => {
    restoreEntryAfterEach(target);

    test('gives a request that is sent again its first answer, and changes nothing', async () => {
      const tag = await setQuantity(target(), 25);
      const headers = { 'If-Match': tag, 'Idempotency-Key': randomUUID() };
      const first = await update(24, headers);
      expectSuccess(first, 'updateInventory');
      await setQuantity(target(), 7);
      const again = await update(24, headers);
      expectSuccess(again, 'updateInventory');
      expect(again.text).toBe(first.text);
      expect(again.headers.get('ETag')).toBe(first.headers.get('ETag'));
      expect(await quantityNow()).toBe(7);
    });

    test('does so without If-Match too', async () => {
      const headers = { 'Idempotency-Key': randomUUID() };
      const first = await update(24, headers);
      await setQuantity(target(), 7);
      expect((await update(24, headers)).headers.get('ETag')).toBe(first.headers.get('ETag'));
      expect(await quantityNow()).toBe(7);
    });

    test('takes a request with another body for another request', async () => {
      const headers = { 'Idempotency-Key': randomUUID() };
      expectSuccess(await update(24, headers), 'updateInventory');
      expectSuccess(await update(23, headers), 'updateInventory');
      expect(await quantityNow()).toBe(23);
    });

    test('remembers no refusal', async () => {
      const headers = { 'Idempotency-Key': randomUUID() };
      expectError(await update(-1, headers), 'invalid_request', 'updateInventory');
      expectSuccess(await update(24, headers), 'updateInventory');
    });

    test.each(['a', '!', '~', '"8e03978e-40d5-43dd-bc93-6894a57f9324"', 'x'.repeat(255)])(
      'takes the key %s',
      async (key) => {
        expectSuccess(await update(24, { 'Idempotency-Key': key }), 'updateInventory');
      },
    );

    test.each(malformed)('answers 400 to the key %j', async (key) => {
      const response = await update(24, { 'Idempotency-Key': key });
      expectError(response, 'invalid_request', 'updateInventory');
    });
  });
}
