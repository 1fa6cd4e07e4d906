import { toCannedEntry } from '../canned/cannedEntries.ts';
import { toCannedItem } from '../canned/cannedPages.ts';
import { cannedOrders, cannedPet } from '../canned/cannedRecords.ts';
import {
  type CannedItem,
  PAGE_SIZE,
  toItemSize,
  toReadUnits,
  toWriteUnits,
} from '../canned/itemSize.ts';

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
export function toUpdateUnits(toItem: (index: number) => CannedItem, version: string): number {
  return toWriteUnits(toItemSize({ ...toItem(0), [version]: { B: 'nz3kW5c=' } }));
}

/** The write request units of keeping the answer to an update with an `Idempotency-Key`, in a transaction. */
export function toRequestUnits(): number {
  const { p, s } = toCompactItem(0) as Record<'p' | 's', CannedItem[string]>;
  const row = { p, r: { S: 'x'.repeat(43) }, s, v: { B: 'nz3kW5c=' }, t: { N: '1795276016' } };
  return 2 * toWriteUnits(toItemSize(row));
}

/** The read request units of so many entries by their ids. */
export function toLookupUnits(entries: number, toItem: (index: number) => CannedItem): number {
  return entries * toReadUnits(toItemSize(toItem(0)));
}

export function toPetUnits(): number {
  return toReadUnits(toItemSize(cannedPet));
}

/** The units of a Query of one page. */
export function toOrdersUnits(): number {
  return toReadUnits(cannedOrders.reduce((bytes, order) => bytes + toItemSize(order), 0));
}
