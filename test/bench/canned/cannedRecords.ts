import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';

export type CannedItem = Readonly<Record<string, AttributeValue>>;

/**
 * Entry number `index` of the benchmarks' inventory as our table keeps it, the same in every run. The ids are unique
 * and spread over the whole int64 range as random ones are: nearly all have 19 digits.
 */
export function toCompactItem(index: number): CannedItem {
  const petId = BigInt.asIntN(64, BigInt(index + 1) * ODD);
  const quantity = (index * 7_919) % 1_000;
  return { p: { N: `${petId}` }, q: { N: `${quantity}` }, s: { S: 'aps'.charAt(index % 3) } };
}

/** Multiplying by an odd number permutes the integers of 64 bits; this one scatters neighbours. */
const ODD = 0x9e3779b97f4a7c15n;

/** A pet as the table of pets keeps it. */
export const cannedPet: CannedItem = marshall({
  id: 7,
  name: 'Rex',
  status: 'available',
  category: { id: 1, name: 'Dogs' },
  photoUrls: ['https://images.petstore.example/7.jpg'],
  tags: [{ id: 3, name: 'friendly' }],
});

/** Twenty orders as the table of orders keeps them, newest first. */
export const cannedOrders = Array.from({ length: 20 }, (_, index): CannedItem => {
  const placedAt = `2026-10-${String(31 - index).padStart(2, '0')}T09:30:00.000Z`;
  const id = 120 - index;
  const placed = `${placedAt}#${(BigInt(id) + 2n ** 63n).toString().padStart(20, '0')}`;
  const order = { id, petId: index + 1, quantity: 1, status: 'placed', placedAt, complete: false };
  return marshall({ ledger: 'orders', placed, ...order });
});
