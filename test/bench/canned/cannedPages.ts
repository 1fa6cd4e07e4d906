import { crc32 } from 'node:zlib';
import { type CannedEntry, toCannedEntry, toCannedItem, toItemJson } from './cannedRecords.ts';
import { PAGE_SIZE, toItemSize, toReadUnits } from './requestUnits.ts';

/** The answers to the Scans of a table, ready to send. */
export interface CannedPages {
  readonly bodies: readonly Buffer[];
  readonly checksums: readonly string[];
  /** Which page follows an ExclusiveStartKey, by its petId. */
  readonly pageAfter: ReadonlyMap<string, number>;
}

export function toCannedPages(entries: number): CannedPages {
  const bodies: Buffer[] = [];
  const pageAfter = new Map<string, number>();
  let index = 0;
  do {
    const items: string[] = [];
    let bytes = 0;
    let last: CannedEntry | undefined;
    for (; index < entries && bytes < PAGE_SIZE; index += 1) {
      last = toCannedEntry(index);
      items.push(toItemJson(last));
      bytes += toItemSize(toCannedItem(last));
    }
    const next = index < entries ? last?.petId : undefined;
    bodies.push(Buffer.from(toPageJson(items, toReadUnits(bytes), next)));
    if (next !== undefined) pageAfter.set(next, bodies.length);
  } while (index < entries);
  const checksums = bodies.map((body) => String(crc32(body)));
  return { bodies, checksums, pageAfter };
}

function toPageJson(items: string[], units: number, next: string | undefined): string {
  const lastKey = next === undefined ? '' : `"LastEvaluatedKey":{"p":{"N":"${next}"}},`;
  const capacity = `{"CapacityUnits":${units},"TableName":"inventory"}`;
  return `{"Count":${items.length},"Items":[${items.join(',')}],${lastKey}"ScannedCount":${items.length},"ConsumedCapacity":${capacity}}`;
}
