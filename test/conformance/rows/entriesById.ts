import { describe, expect, test } from 'vitest';
import { parseJson, toJson } from '../../../shared/contract/values.ts';
import { expectError, expectSuccess } from '../expectations.ts';
import { send, sendUpdate, type TargetSource } from '../target.ts';

interface TaggedEntry {
  readonly petId: number | bigint;
  readonly quantity: number;
  readonly status: string;
  readonly etag: string;
}

const badPetIds = ['', 'abc', '1,', ',1', '1,,2', '1,%202', '01', '1.5', '9223372036854775808'];
const tooMany = Array.from({ length: 101 }, (_, petId) => petId).join();

/** The entries that one needs, and their tags. */
export function describeEntriesById(target: TargetSource): void {
  const list = (query: string) => send(target(), 'GET', `/inventory?${query}`);

  async function listTagged(query: string): Promise<TaggedEntry[]> {
    const response = await list(query);
    expectSuccess(response, 'listInventory');
    return response.json() as TaggedEntry[];
  }

  describe('listInventory of some ids', () => {
    test('answers their entries in that order, without those that do not exist', async () => {
      const { inventory, missingPetId } = target().fixtures;
      const wanted = inventory.slice(0, 5).toReversed();
      const petIds = wanted.map(({ petId }) => `${petId}`);
      const response = await list(`petId=${petIds.toSpliced(2, 0, `${missingPetId}`).join()}`);
      expectSuccess(response, 'listInventory');
      expect(response.json()).toEqual(wanted.map((entry) => parseJson(toJson(entry))));
      for (const petId of petIds) expect(response.text).toContain(`"petId":${petId},`);
    });

    test('answers one entry, each but once, or none', async () => {
      const { inventory, missingPetId } = target().fixtures;
      const [first] = inventory;
      const once = [parseJson(toJson(first))];
      expect((await list(`petId=${first?.petId}`)).json()).toEqual(once);
      expect((await list(`petId=${first?.petId},${first?.petId}`)).json()).toEqual(once);
      expect((await list(`petId=${missingPetId}`)).json()).toEqual([]);
    });

    test('can leave out those of another status', async () => {
      const { inventory } = target().fixtures;
      const petIds = inventory.slice(0, 6).map(({ petId }) => petId);
      const sold = inventory.slice(0, 6).filter(({ status }) => status === 'sold');
      const response = await list(`petId=${petIds.join()}&status=sold`);
      expect(response.json()).toEqual(sold.map((entry) => parseJson(toJson(entry))));
    });

    test.each([...badPetIds, tooMany])('refuses the ids %j', async (petIds) => {
      expectError(await list(`petId=${petIds}`), 'invalid_request', 'listInventory');
    });

    test.each(['limit=10', 'cursor=x'])('refuses them together with %s', async (other) => {
      expectError(await list(`petId=1&${other}`), 'invalid_request', 'listInventory');
    });

    test('takes a hundred', async () => {
      const petIds = Array.from({ length: 100 }, (_, index) => index - 50).join();
      expectSuccess(await list(`petId=${petIds}`), 'listInventory');
    });
  });

  describe('listInventory with include=etag', () => {
    test('gives each entry its tag, as If-Match takes it, in every form of the list', async () => {
      const plain = (await list('')).json() as object[];
      const whole = await listTagged('include=etag');
      expect(whole.map(({ etag: _, ...entry }) => entry)).toEqual(plain);
      for (const { etag } of whole) expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
      const tags = new Map(whole.map(({ petId, etag }) => [petId, etag]));
      const page = await listTagged('include=etag&limit=3');
      const { petId } = page[0] as TaggedEntry;
      for (const entry of [...page, ...(await listTagged(`include=etag&petId=${petId}`))]) {
        expect(entry.etag).toBe(tags.get(entry.petId));
      }
      expect(Object.keys(page[0] as TaggedEntry)).toEqual(['petId', 'quantity', 'status', 'etag']);
    });

    test.each(['', 'ETag', 'etag,etag', 'all'])('refuses include=%j', async (value) => {
      expectError(await list(`include=${value}`), 'invalid_request', 'listInventory');
    });

    test('gives the tag of the last update, which an update takes once', async () => {
      const { changeablePetId } = target().fixtures;
      const read = async () =>
        (await listTagged(`include=etag&petId=${changeablePetId}`))[0] as TaggedEntry;
      const first = await read();
      const body = `{"quantity":${first.quantity}}`;
      const updated = await sendUpdate(target(), changeablePetId, body, { 'If-Match': first.etag });
      expectSuccess(updated, 'updateInventory');
      expect((await read()).etag).toBe(updated.headers.get('ETag'));
      const again = await sendUpdate(target(), changeablePetId, body, { 'If-Match': first.etag });
      expectError(again, 'precondition_failed', 'updateInventory');
      expect(again.headers.get('ETag')).toBe(updated.headers.get('ETag'));
      const whole = await listTagged('include=etag');
      expect(whole.map(({ etag }) => etag)).toContain(updated.headers.get('ETag'));
    });
  });
}
