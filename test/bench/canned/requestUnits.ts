import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type CannedItem, cannedPet, toCompactItem } from './cannedRecords.ts';

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

/** The read request units of an eventually consistent read of so many bytes. */
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

/** The read request units of a Scan of so many entries. Each page is rounded up by itself. */
export function toScanUnits(entries: number, toItem: (index: number) => CannedItem): number {
  let units = 0;
  for (const { readUnits } of toPages(entries, toItem)) units += readUnits;
  return units;
}

const version = { B: Buffer.alloc(5) };

/** The write request units of an update of one entry with a new version. */
export function toUpdateUnits(): number {
  return toWriteUnits({ ...toCompactItem(0), v: version });
}

/** The write request units of storing the response to an update with an `Idempotency-Key`, in a transaction. */
export function toRequestUnits(): number {
  const { p, s } = toCompactItem(0) as Record<'p' | 's', AttributeValue>;
  return 2 * toWriteUnits({ p, r: { S: 'x'.repeat(43) }, s, v: version, t: { N: '1795276016' } });
}

export function toPetUnits(): number {
  return toReadUnits(toItemSize(cannedPet));
}

function toWriteUnits(item: CannedItem): number {
  return Math.ceil(toItemSize(item) / 1_024);
}

function toValueSize({ N, S, B, BOOL, L, M = {} }: AttributeValue): number {
  if (N !== undefined) return toNumberSize(N);
  if (S !== undefined) return Buffer.byteLength(S);
  if (B !== undefined) return B.length;
  if (BOOL !== undefined) return 1;
  // A list or a map takes 3 bytes, and 1 more for each element.
  if (L !== undefined) return 3 + L.reduce((size, each) => size + 1 + toValueSize(each), 0);
  return 3 + Object.keys(M).length + toItemSize(M);
}

/** One byte for every two significant digits, one more, and another for a minus sign. */
function toNumberSize(text: string): number {
  const sign = text.startsWith('-') ? 1 : 0;
  const digits = text.slice(sign).replace(/0+$/, '');
  return Math.ceil(digits.length / 2) + 1 + sign;
}
