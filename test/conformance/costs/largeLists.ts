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

/** As the store keeps it. */
const toRecord = (index: number) => toInventoryRecord(toMeasuredItem(index));

/** Inventory records hold but texts and numbers. */
const toItem = (index: number) => toRecord(index) as unknown as CannedItem;

/** The units of a Scan of the measured inventory, by the sizes of its records. */
export function toListUnits(entries: number): number {
  return toScanUnits(entries, toItem);
}

/** The bodies of a whole list, plain and compressed, made as the function makes them: page by page of a Scan. */
export async function toBodyBytes(
  entries: number,
): Promise<Record<ReturnType<typeof toBodyKind>, number>> {
  const chunks: string[] = [];
  for (let index = 0; index < entries; ) {
    chunks.push(index === 0 ? '[' : ',');
    const items: string[] = [];
    for (let bytes = 0; index < entries && bytes < PAGE_SIZE; index += 1) {
      bytes += toItemSize(toItem(index));
      items.push(toInventoryJson(toRecord(index)));
    }
    chunks.push(items.join(','));
  }
  chunks.push(']');
  const text = chunks.map((chunk) => Buffer.from(chunk));
  const [gzip, zstd] = await Promise.all(
    (['gzip', 'zstd'] as const).map((coding) => buffer(compress(Readable.from(text), coding))),
  );
  return { plain: Buffer.concat(text).length, gzip: gzip?.length ?? 0, zstd: zstd?.length ?? 0 };
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
