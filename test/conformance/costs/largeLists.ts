import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  type AnswerUnits,
  toBilledDuration,
  toBodyKind,
  toGatewayRequests,
} from '../../../infra/costs/units/answerUnits.ts';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { compress } from '../../../shared/http/contentCoding.ts';
import { toInventoryJson, toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { toCannedEntry } from '../../bench/canned/cannedRecords.ts';
import {
  type CannedItem,
  PAGE_SIZE,
  toItemSize,
  toScanUnits,
} from '../../bench/canned/requestUnits.ts';

const statusOf = { a: 'available', p: 'pending', s: 'sold' } as const;

/** Entry number `index` of the measured inventory: ids as long as random ones. */
export function toMeasuredItem(index: number): InventoryItem {
  const { petId, quantity, status } = toCannedEntry(index);
  return {
    petId: BigInt(petId),
    quantity: Number(quantity),
    status: statusOf[status as keyof typeof statusOf],
  };
}

/** The bodies of a whole list, plain and compressed, made as the function makes them. */
export async function toBodyBytes(
  entries: number,
): Promise<Record<ReturnType<typeof toBodyKind>, number>> {
  const chunks = ['[', ...toPages(entries).flatMap((page, index) => [index ? ',' : '', page]), ']'];
  const text = chunks.filter((chunk) => chunk !== '').map((chunk) => Buffer.from(chunk));
  const [gzip, zstd] = await Promise.all(
    (['gzip', 'zstd'] as const).map((coding) => buffer(compress(Readable.from(text), coding))),
  );
  const plain = text.reduce((sum, { length }) => sum + length, 0);
  return { plain, gzip: gzip?.length ?? 0, zstd: zstd?.length ?? 0 };
}

/** The units of a Scan of the measured inventory, by the sizes of its records. */
export function toListUnits(entries: number): number {
  return toScanUnits(entries, (index) => toItem(toRecord(index)));
}

/** As the store keeps it. */
function toRecord(index: number) {
  return toInventoryRecord(toMeasuredItem(index));
}

/** Inventory records hold but texts and numbers. */
function toItem(record: ReturnType<typeof toRecord>): CannedItem {
  return record as unknown as CannedItem;
}

/** The entries of each page of a Scan, in JSON. */
function toPages(entries: number): string[] {
  const pages: string[] = [];
  for (let index = 0; index < entries; ) {
    const items: string[] = [];
    for (let bytes = 0; index < entries && bytes < PAGE_SIZE; index += 1) {
      const record = toRecord(index);
      bytes += toItemSize(toItem(record));
      items.push(toInventoryJson(record));
    }
    pages.push(items.join(','));
  }
  return pages;
}

/** The units of a longer list, made of those of one that was seen. */
export async function toLongerList(
  seen: AnswerUnits,
  from: number,
  entries: number,
): Promise<AnswerUnits> {
  const kind = toBodyKind(seen.answer);
  const [short, long] = [(await toBodyBytes(from))[kind], (await toBodyBytes(entries))[kind]];
  const grown = seen.answer === '304' ? 0 : long - short;
  const responseBytes = seen.responseBytes + grown;
  return {
    ...seen,
    entries,
    billedMilliseconds: toBilledDuration(seen.operationId, seen.answer, entries),
    readUnits: toListUnits(entries),
    responseBytes,
    gatewayRequests: toGatewayRequests(responseBytes),
  };
}
