import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSuccess } from '../expectations.ts';
import { openLocalTarget } from '../localTarget.ts';
import { readEntry, setQuantity } from '../operations/inventoryEntry.ts';
import { type ConformanceTarget, sendUpdate } from '../target.ts';

const quantities = Array.from({ length: 50 }, (_, index) => 1000 + index);

describe('fifty clients at once', () => {
  let target: ConformanceTarget;
  beforeAll(async () => {
    target = await openLocalTarget();
  });
  afterAll(() => target?.close());

  const updateTo = (quantity: number, headers: Record<string, string> = {}) =>
    sendUpdate(target, target.fixtures.changeablePetId, `{"quantity":${quantity}}`, headers);
  const quantityNow = async () =>
    (await readEntry(target, target.fixtures.changeablePetId))?.quantity;

  test('all update one entry, and one of their values remains', async () => {
    const responses = await Promise.all(quantities.map((quantity) => updateTo(quantity)));
    for (const response of responses) expectSuccess(response, 'updateInventory');
    expect(quantities).toContain(await quantityNow());
    const tags = new Set(responses.map(({ headers }) => headers.get('ETag')));
    expect(tags.size).toBe(responses.length);
  });

  test('update one entry with the same If-Match, and exactly one wins', async () => {
    const tag = await setQuantity(target, 7);
    const responses = await Promise.all(
      quantities.map((quantity) => updateTo(quantity, { 'If-Match': tag })),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(49);
    expect(await quantityNow()).toBe(quantities[statuses.indexOf(200)]);
  });

  test('set the same quantity with the same If-Match, and exactly one wins', async () => {
    const tag = await setQuantity(target, 7);
    const responses = await Promise.all(quantities.map(() => updateTo(7, { 'If-Match': tag })));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 412)).toHaveLength(49);
  });
});
