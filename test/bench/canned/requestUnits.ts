import { cannedPet, toCannedEntry, toCannedItem } from './cannedRecords.ts';

/** The attribute values that the benchmarks' records are made of; numbers are integers. */
export type CannedValue =
  | { readonly N: string }
  | { readonly S: string }
  /** Base64. */
  | { readonly B: string }
  | { readonly BOOL: boolean }
  | { readonly L: readonly CannedValue[] }
  | { readonly M: CannedItem };

export interface CannedItem {
  readonly [name: string]: CannedValue;
}

/** What a page of a Scan or Query may hold at most, in bytes of items. */
export const PAGE_SIZE = 1_048_576;

/**
 * The size of an item in bytes as DynamoDB bills it, attribute names included:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function toItemSize(item: CannedItem): number {
  let size = 0;
  // A million items are measured in one test, for which an array of each one's entries takes too long.
  for (const name in item) size += Buffer.byteLength(name) + toValueSize(item[name] as CannedValue);
  return size;
}

/** The read request units of an eventually consistent read of so many bytes. */
export function toReadUnits(bytes: number): number {
  return Math.ceil(bytes / 4_096) / 2;
}

/** The write request units of a write of an item of so many bytes. */
export function toWriteUnits(bytes: number): number {
  return Math.ceil(bytes / 1_024);
}

/** An inventory entry with its attributes named as the API names them. */
export function toFullItem(index: number): CannedItem {
  const { petId, quantity, status } = toCannedEntry(index);
  const statuses: Record<string, string> = { a: 'available', p: 'pending', s: 'sold' };
  return { petId: { N: petId }, quantity: { N: quantity }, status: { S: statuses[status] ?? '' } };
}

/** An inventory entry as our table keeps it. */
export function toCompactItem(index: number): CannedItem {
  return toCannedItem(toCannedEntry(index));
}

/** The read request units of a Scan of so many entries. Each page is rounded up by itself. */
export function toScanUnits(entries: number, toItem: (index: number) => CannedItem): number {
  let units = 0;
  for (let index = 0; index < entries; ) {
    let bytes = 0;
    for (; index < entries && bytes < PAGE_SIZE; index += 1) bytes += toItemSize(toItem(index));
    units += toReadUnits(bytes);
  }
  return units;
}

/** The write request units of an update of one entry, which gets a version. */
export function toUpdateUnits(): number {
  return toWriteUnits(toItemSize({ ...toCompactItem(0), v: { B: 'nz3kW5c=' } }));
}

/** The write request units of keeping the answer to an update with an `Idempotency-Key`, in a transaction. */
export function toRequestUnits(): number {
  const { p, s } = toCompactItem(0) as Record<'p' | 's', CannedItem[string]>;
  const row = { p, r: { S: 'x'.repeat(43) }, s, v: { B: 'nz3kW5c=' }, t: { N: '1795276016' } };
  return 2 * toWriteUnits(toItemSize(row));
}

export function toPetUnits(): number {
  return toReadUnits(toItemSize(cannedPet));
}

function toValueSize(value: CannedValue): number {
  if ('N' in value) return toNumberSize(value.N);
  if ('S' in value) return Buffer.byteLength(value.S);
  if ('B' in value) return Buffer.byteLength(value.B, 'base64');
  if ('BOOL' in value) return 1;
  // A list or a map takes 3 bytes, and 1 for each of its elements.
  if ('L' in value) return 3 + value.L.reduce((size, each) => size + 1 + toValueSize(each), 0);
  return 3 + Object.keys(value.M).length + toItemSize(value.M);
}

/** A byte for two significant digits and one more, and another for a minus sign. */
function toNumberSize(text: string): number {
  const sign = text.startsWith('-') ? 1 : 0;
  let end = text.length;
  while (end > sign && text[end - 1] === '0') end -= 1;
  return Math.ceil((end - sign) / 2) + 1 + sign;
}
