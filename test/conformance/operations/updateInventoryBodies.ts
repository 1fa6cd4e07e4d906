import { describe, expect, test } from 'vitest';
import { expectError, expectSuccess, expectTooLarge } from '../expectations.ts';
import { send, sendUpdate, type TargetSource } from '../target.ts';
import { harmlessBodies, hostileBodies, validQuantities } from './bodies.ts';
import { readEntry, restoreEntryAfterEach, setQuantity } from './inventoryEntry.ts';

const jsonTypes = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON',
  'application/merge-patch+json',
];

const otherTypes = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/xml',
  'application/jsonp',
  'text/json-ish',
  'json',
  '',
];

export function describeBodies(target: TargetSource): void {
  describe('updateInventory reads the body', () => {
    restoreEntryAfterEach(target);

    test.each(Object.entries(hostileBodies))(
      'answers 400 to %s and leaves the entry as it was',
      async (_, body) => {
        const { changeablePetId } = target().fixtures;
        const before = await readEntry(target(), changeablePetId);
        const response = await sendUpdate(target(), changeablePetId, body);
        expectError(response, 'invalid_request', 'updateInventory');
        expect(await readEntry(target(), changeablePetId)).toStrictEqual(before);
      },
    );

    test.each(Object.entries(validQuantities))('takes the quantity %s', async (text, quantity) => {
      const { changeablePetId } = target().fixtures;
      const response = await sendUpdate(target(), changeablePetId, `{"quantity":${text}}`);
      expectSuccess(response, 'updateInventory');
      expect(response.json()).toMatchObject({ quantity });
      expect(await readEntry(target(), changeablePetId)).toMatchObject({ quantity });
    });

    test.each(Object.entries(harmlessBodies))(
      'takes the quantity beside %s, and nothing else',
      async (_, body) => {
        const { changeablePetId } = target().fixtures;
        await setQuantity(target(), 1);
        const before = await readEntry(target(), changeablePetId);
        const response = await sendUpdate(target(), changeablePetId, body);
        expectSuccess(response, 'updateInventory');
        const expected = { ...before, quantity: 5 };
        expect(response.json()).toStrictEqual(expected);
        expect(await readEntry(target(), changeablePetId)).toStrictEqual(expected);
        expect({}).not.toHaveProperty('polluted');
      },
    );

    test('answers 413 to a body of 7 MB and leaves the entry as it was', async () => {
      const { changeablePetId } = target().fixtures;
      const before = await readEntry(target(), changeablePetId);
      const body = `{"quantity":5,"x":"${'x'.repeat(7 * 1024 * 1024)}"}`;
      expectTooLarge(await sendUpdate(target(), changeablePetId, body));
      expect(await readEntry(target(), changeablePetId)).toStrictEqual(before);
    });

    test('is not brought down by deep nesting in a member that it ignores', async () => {
      const depth = 100_000;
      const body = `{"quantity":3,"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      const response = await sendUpdate(target(), target().fixtures.changeablePetId, body);
      expect([200, 400]).toContain(response.status);
    });

    test.each(jsonTypes)('takes Content-Type: %s', async (type) => {
      const response = await sendTyped(target(), { 'Content-Type': type });
      expectSuccess(response, 'updateInventory');
    });

    test.each(['content-type', 'CONTENT-TYPE', 'cOnTeNt-tYpE'])(
      'finds the header written as %s',
      async (name) => {
        expectSuccess(await sendTyped(target(), { [name]: 'application/json' }), 'updateInventory');
        const response = await sendTyped(target(), { [name]: 'text/plain' });
        expectError(response, 'unsupported_media_type', 'updateInventory');
      },
    );

    test.each(otherTypes)('answers 415 to Content-Type: "%s"', async (type) => {
      await setQuantity(target(), 12);
      const response = await sendTyped(target(), { 'Content-Type': type });
      expectError(response, 'unsupported_media_type', 'updateInventory');
      const { changeablePetId } = target().fixtures;
      expect(await readEntry(target(), changeablePetId)).toMatchObject({ quantity: 12 });
    });

    test('answers 415 without a Content-Type', async () => {
      const response = await sendTyped(target(), {});
      expectError(response, 'unsupported_media_type', 'updateInventory');
    });
  });
}

function sendTyped(target: ReturnType<TargetSource>, headers: Record<string, string>) {
  const path = `/inventory/${target.fixtures.changeablePetId}`;
  return send(target, 'PATCH', path, { headers, body: '{"quantity":8}' });
}
