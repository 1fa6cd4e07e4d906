import { describe, expect, test } from 'vitest';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { responses } from '../../../shared/contract/operations.ts';
import { expectSuccess } from '../expectations.ts';
import { send, type TargetSource } from '../target.ts';
import {
  type OperationSuite,
  restoreEntryAfterEach,
  setQuantity,
  withoutKey,
} from './operationSuite.ts';

export const getInventoryEntry: OperationSuite = {
  toValidRequest: ({ fixtures }) => ({
    method: 'GET',
    path: `/inventory/${fixtures.changeablePetId}`,
  }),
  access: { inventory: ['dynamodb:GetItem'] },
  examples: {
    nine: { summary: 'Nine are in stock', path: '/inventory/7' },
    badId: {
      summary: 'An id that is not a number',
      path: '/inventory/abc',
      code: 'invalid_request',
    },
    ...withoutKey({ path: '/inventory/7' }),
    unknownId: { summary: 'An id that no entry has', path: '/inventory/999999', code: 'not_found' },
  },
  listRequests({ available: [id], missing, entryTag }) {
    const entry = { path: `/inventory/${id}`, milliseconds: 10 };
    return [
      { ...entry, response: '200', request: 'one id' },
      {
        ...entry,
        response: '304',
        request: 'one id, unchanged',
        headers: { 'If-None-Match': entryTag },
      },
      { ...entry, response: '404', request: 'an unknown id', path: `/inventory/${missing}` },
      { ...entry, response: '401', request: 'no key', key: 'none', milliseconds: 2 },
    ];
  },
  callClient: (client, fixtures) => client.getInventoryEntry(fixtures.changeablePetId),
  describeRows,
};

function describeRows(target: TargetSource): void {
  const get = (petId: unknown, headers: Record<string, string> = {}) =>
    send(target(), 'GET', `/inventory/${petId}`, { headers });

  describe('getInventoryEntry', () => {
    test('returns 200 with each InventoryItem as it was loaded, digit for digit', async () => {
      for (const entry of target().fixtures.inventory) {
        const response = await get(entry.petId);
        expectSuccess(response, 'getInventoryEntry');
        expect(responses.getInventoryEntry.safeParse(response.json()).error).toBeUndefined();
        expect(response.json()).toStrictEqual(parseJson(toJson(entry)));
        expect(response.text).toContain(`"petId":${entry.petId},`);
      }
    });
  });

  describe('getInventoryEntry with If-None-Match', () => {
    restoreEntryAfterEach(target);

    test('returns 200 after a change of this entry, and 304 after that of another', async () => {
      const { changeablePetId: petId, inventory } = target().fixtures;
      const untouched = inventory.find((entry) => entry.petId !== petId)?.petId;
      const tag = await setQuantity(target(), 5);
      const other = (await get(untouched)).headers.get('ETag') ?? '';
      const next = await setQuantity(target(), 5);
      const changed = await get(petId, { 'If-None-Match': tag });
      expectSuccess(changed, 'getInventoryEntry');
      expect(changed.headers.get('ETag')).toBe(next);
      expect((await get(untouched, { 'If-None-Match': other })).status).toBe(304);
    });
  });
}
