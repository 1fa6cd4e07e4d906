import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';

type CannedItem = Readonly<Record<string, AttributeValue>>;

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

export const cannedOrders = Array.from({ length: 20 }, (_, index): CannedItem => {
  const placedAt = `2026-10-${String(31 - index).padStart(2, '0')}T09:30:00.000Z`;
  const id = 120 - index;
  const placed = `${placedAt}#${(BigInt(id) + 2n ** 63n).toString().padStart(20, '0')}`;
  const order = { id, petId: index + 1, quantity: 1, status: 'placed', placedAt, complete: false };
  return marshall({ ledger: 'orders', placed, ...order });
});

/** The most bytes of items that a page of a Scan or Query may hold. */
const PAGE_SIZE = 1_048_576;

/**
 * The size of an item in bytes as DynamoDB bills it, attribute names included:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function toItemSize(item: CannedItem): number {
  let size = 0;
  // A test measures a million items: an array of each one's entries would take too long.
  for (const name in item) {
    size += Buffer.byteLength(name) + toValueSize(item[name] as AttributeValue);
  }
  return size;
}

export function toReadUnits(bytes: number): number {
  return Math.ceil(bytes / 4_096) / 2;
}

/** The pages of a Scan of so many entries; one empty page for none. */
export function* toPages<Item extends CannedItem>(
  entries: number,
  toItem: (index: number) => Item,
) {
  let index = 0;
  do {
    const items: Item[] = [];
    let bytes = 0;
    for (; index < entries && bytes < PAGE_SIZE; index += 1) {
      const item = toItem(index);
      items.push(item);
      bytes += toItemSize(item);
    }
    yield { items, readUnits: toReadUnits(bytes), isLast: index === entries };
  } while (index < entries);
}

function toValueSize({ N, S = '', B, BOOL }: AttributeValue): number {
  if (N !== undefined) return toNumberSize(N);
  if (B !== undefined) return B.length;
  return BOOL === undefined ? Buffer.byteLength(S) : 1;
}

/** One byte for every two significant digits, one more, and another for a minus sign. */
function toNumberSize(text: string): number {
  const sign = text.startsWith('-') ? 1 : 0;
  const digits = text.slice(sign).replace(/0+$/, '');
  return Math.ceil(digits.length / 2) + 1 + sign;
}
