import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { InventoryItem } from '../contract/schemas/inventory.ts';
import type { PetStatus } from '../contract/values/petStatus.ts';

/**
 * An inventory entry as DynamoDB keeps it. A scan is billed by bytes, attribute names included, so
 * names and status are one letter each: 18 bytes for an entry whose petId has 19 digits, in place of 40.
 * Numbers travel as text and so stay exact.
 */
export interface InventoryRecord {
  /** petId */
  readonly p: AttributeValue.NMember;
  /** quantity */
  readonly q: AttributeValue.NMember;
  /** status */
  readonly s: AttributeValue.SMember;
  /** How often the entry was updated; absent, and free, until the first time. */
  readonly v?: AttributeValue.NMember;
}

export const letterOf: Record<PetStatus, string> = { available: 'a', pending: 'p', sold: 's' };
const statusOf = Object.fromEntries(
  Object.entries(letterOf).map(([status, letter]) => [letter, status as PetStatus]),
);

export function toInventoryRecord(
  item: InventoryItem,
): InventoryRecord & Record<string, AttributeValue> {
  return {
    p: { N: item.petId.toString() },
    q: { N: item.quantity.toString() },
    s: { S: letterOf[item.status] },
  };
}

/** @throws {Error} when the record is not one of ours */
export function toInventoryItem(attributes: Record<string, AttributeValue>): InventoryItem {
  const { p, q, s } = attributes as unknown as InventoryRecord;
  return { petId: BigInt(p.N), quantity: Number(q.N), status: toStatus(s.S) };
}

/** The entry as the JSON text of an InventoryItem, its numbers digit for digit as they are stored. */
export function toInventoryJson(attributes: Record<string, AttributeValue>): string {
  const { p, q, s } = attributes as unknown as InventoryRecord;
  return `{"petId":${p.N},"quantity":${q.N},"status":"${toStatus(s.S)}"}`;
}

/**
 * Names one state of an entry, such as `3.25.a`. The content stands beside the update count, since an
 * entry that is loaded anew starts counting again.
 */
export function toVersion(attributes: Record<string, AttributeValue>): string {
  const { q, s, v } = attributes as unknown as InventoryRecord;
  return `${v?.N ?? 0}.${q.N}.${s.S}`;
}

/** The attributes that a version names; `undefined` when the text is not a version of ours. */
export function parseVersion(version: string): Pick<InventoryRecord, 'q' | 's' | 'v'> | undefined {
  const [, v, q, s] = /^(\d{1,15})\.(\d{1,10})\.([aps])$/.exec(version) ?? [];
  if (v === undefined || q === undefined || s === undefined) return undefined;
  return { q: { N: q }, s: { S: s }, ...(v !== '0' && { v: { N: v } }) };
}

function toStatus(letter: string): PetStatus {
  const status = statusOf[letter];
  if (status === undefined)
    throw new Error(`An inventory record has the unknown status "${letter}".`);
  return status;
}
