import { randomUUID } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { InventoryItem } from '../contract/schemas.ts';
import type { PetStatus } from '../contract/values.ts';

/**
 * An inventory entry as DynamoDB stores it. A scan is billed by bytes, including attribute names, so names and status
 * are one letter each. An entry with a petId of 19 digits takes 18 bytes instead of 40. Numbers are sent as text, so
 * they stay exact.
 */
export interface InventoryRecord {
  /** petId */
  readonly p: AttributeValue.NMember;
  /** quantity */
  readonly q: AttributeValue.NMember;
  /** status */
  readonly s: AttributeValue.SMember;
  /** A random value of the last update, `VERSION_BYTES` long. Absent, and so free, before the first update. */
  readonly v?: AttributeValue.BMember;
}

/** Forty random bits cost a scan 6 bytes per entry, and are enough to distinguish the updates of an entry. */
const VERSION_BYTES = 5;

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

/** @throws {Error} if the record is not one of ours */
export function toInventoryItem(attributes: Record<string, AttributeValue>): InventoryItem {
  const { p, q, s } = attributes as unknown as InventoryRecord;
  return { petId: BigInt(p.N), quantity: Number(q.N), status: toStatus(s.S) };
}

/** An entry with its tag, as `If-Match` takes it. */
export interface TaggedItem extends InventoryItem {
  readonly etag: string;
}

/** @throws {Error} if the record is not one of ours */
export function toTaggedItem(attributes: Record<string, AttributeValue>): TaggedItem {
  return { ...toInventoryItem(attributes), etag: `"${toVersion(attributes)}"` };
}

/**
 * The entry as the JSON text of an InventoryItem, with the stored numbers digit for digit.
 * @throws {Error} if the record is not one of ours
 */
export function toInventoryJson(attributes: Record<string, AttributeValue>): string {
  const { p, q, s } = attributes as unknown as InventoryRecord;
  return `{"petId":${p.N},"quantity":${q.N},"status":"${toStatus(s.S)}"}`;
}

/** As `toInventoryJson`, with the entry's tag. */
export function toTaggedJson(attributes: Record<string, AttributeValue>): string {
  return `${toInventoryJson(attributes).slice(0, -1)},"etag":"\\"${toVersion(attributes)}\\""}`;
}

/**
 * Identifies one state of an entry: by the last update's value, or by the content if it was never updated. Opaque
 * outside this file.
 */
export function toVersion(attributes: Record<string, AttributeValue>): string {
  const { q, s, v } = attributes as unknown as InventoryRecord;
  // In a page read without the SDK, bytes are still base64, as in DynamoDB's JSON.
  if (v?.B) return Buffer.from(v.B as never, 'base64').toString('base64url');
  const content = Buffer.alloc(CONTENT_BYTES);
  content.writeUInt32BE(Number(q.N));
  content.write(s.S, CONTENT_BYTES - 1);
  return content.toString('base64url');
}

/** An unpredictable version for an update. */
export function newVersion(): string {
  // Node.js buffers random bytes for UUIDs, but calls the system each time for others. The first ten digits of
  // version 4 are all random (RFC 9562 section 5.4).
  const digits = randomUUID()
    .replace('-', '')
    .slice(0, 2 * VERSION_BYTES);
  return Buffer.from(digits, 'hex').toString('base64url');
}

/** The quantity in four bytes, a zero byte, which makes it longer than an update's value, and the status. */
const CONTENT_BYTES = 6;

/** An update's version as the record stores it. */
export function toVersionValue(version: string): AttributeValue {
  return { B: Buffer.from(version, 'base64url') };
}

/**
 * The condition that an entry has a version; `undefined` if the text is not one of our versions.
 * @param index makes the names of its values unique
 */
export function toCondition(version: string, index: number) {
  const bytes = Buffer.from(version, 'base64url');
  // One state has one spelling, but the decoder ignores characters outside base64url.
  if (bytes.toString('base64url') !== version) return undefined;
  if (bytes.length === VERSION_BYTES) {
    return { expression: `v = :v${index}`, values: { [`:v${index}`]: { B: bytes } } };
  }
  if (bytes.length !== CONTENT_BYTES || bytes[4] !== 0) return undefined;
  const q = { N: String(bytes.readUInt32BE()) };
  const s = { S: bytes.toString('latin1', CONTENT_BYTES - 1) };
  return {
    expression: `attribute_not_exists(v) AND q = :q${index} AND s = :s${index}`,
    values: { [`:q${index}`]: q, [`:s${index}`]: s },
  };
}

/** An entry's key, by the canonical text of its petId. */
export function toKey(petId: string): Record<string, AttributeValue> {
  return { p: { N: petId } };
}

/** @throws {Error} if the letter is unknown */
export function toStatus(letter: string): PetStatus {
  const status = statusOf[letter];
  if (status === undefined)
    throw new Error(`An inventory record has the unknown status "${letter}".`);
  return status;
}
