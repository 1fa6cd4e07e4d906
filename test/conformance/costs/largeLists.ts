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
import { type CannedItem, toCannedEntry } from '../../bench/canned/cannedRecords.ts';
import { PAGE_SIZE, toItemSize, toReadUnits } from '../../bench/canned/requestUnits.ts';

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

export type List = Awaited<ReturnType<typeof toList>>;

/** A whole list as the function makes it, page by page of a Scan: its read units, and the bytes of its body. */
export async function toList(entries: number) {
  const chunks: string[] = [];
  let readUnits = 0;
  for (let index = 0; index < entries; ) {
    chunks.push(index === 0 ? '[' : ',');
    const items: string[] = [];
    let bytes = 0;
    for (; index < entries && bytes < PAGE_SIZE; index += 1) {
      const record = toInventoryRecord(toMeasuredItem(index));
      // Inventory records hold but texts and numbers.
      bytes += toItemSize(record as unknown as CannedItem);
      items.push(toInventoryJson(record));
    }
    readUnits += toReadUnits(bytes);
    chunks.push(items.join(','));
  }
  const text = [...chunks, ']'].map((chunk) => Buffer.from(chunk));
  const compressed = (coding: 'gzip' | 'zstd') => buffer(compress(Readable.from(text), coding));
  const [gzip, zstd] = await Promise.all([compressed('gzip'), compressed('zstd')]);
  const bytes = { plain: Buffer.concat(text).length, gzip: gzip.length, zstd: zstd.length };
  return { entries, readUnits, bytes };
}

/** The units of a longer list, made of those of one that was seen. */
export function toLongerList(seen: AnswerUnits, short: List, long: List): AnswerUnits {
  const kind = toBodyKind(seen.answer);
  const grown = seen.answer === '304' ? 0 : long.bytes[kind] - short.bytes[kind];
  const responseBytes = seen.responseBytes + grown;
  return {
    ...seen,
    entries: long.entries,
    billedMilliseconds: toBilledDuration(seen.operationId, seen.answer, long.entries),
    readUnits: long.readUnits,
    responseBytes,
    gatewayRequests: toGatewayRequests(responseBytes),
  };
}
