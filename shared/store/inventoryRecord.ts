import { randomBytes } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { InventoryItem } from '../contract/schemas.ts';
import { INT64_ERROR, type PetStatus, parseInt64, quantityError } from '../contract/values.ts';
import { describeProblem, invalidRecord, parseQuantity } from './recordReader.ts';

/**
 * An inventory entry as DynamoDB stores it. A scan is billed by bytes, including attribute names, so names and status
 * are one letter each. An entry with a petId of 19 digits takes 18 bytes instead of 40. Numbers are sent as text, so
 * they stay exact. During a canary and after a rollback, the release before reads what this one writes.
 */
interface InventoryRecord {
  /** petId */
  readonly p: AttributeValue.NMember;
  /** quantity */
  readonly q: AttributeValue.NMember;
  /** status */
  readonly s: AttributeValue.SMember;
  /**
   * A random value of the last update, `VERSION_BYTES` long. Absent, and so free, before the first update. Release
   * 1.0.0 wrote a number, its count of updates.
   */
  readonly v?: AttributeValue.BMember;
}

/** Forty random bits cost a scan 6 bytes per entry, and are enough to distinguish the updates of an entry. */
const VERSION_BYTES = 5;

export const letterOf: Record<PetStatus, string> = { available: 'a', pending: 'p', sold: 's' };
const statusOf = new Map<string | undefined, PetStatus>(
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

/** @throws {Error} that names the entry and the attribute, if no release wrote such an attribute */
export function toInventoryItem(attributes: Record<string, AttributeValue>): InventoryItem {
  const petId = parseInt64(String(attributes.p?.N));
  if (petId === undefined) throw invalidAttribute(attributes, 'p');
  const quantity = parseQuantity(attributes.q?.N, 0);
  if (quantity === undefined) throw invalidAttribute(attributes, 'q');
  return { petId, quantity, status: readPetStatus(attributes) };
}

/** An entry with its tag, as `If-Match` takes it. */
export interface TaggedItem extends InventoryItem {
  readonly etag: string;
}

/** @throws {Error} as `toInventoryItem` */
export function toTaggedItem(attributes: Record<string, AttributeValue>): TaggedItem {
  return { ...toInventoryItem(attributes), etag: `"${readVersion(attributes)}"` };
}

/**
 * Identifies one state of an entry: by the last update's value, or by the content if it was never updated. If `v` is
 * not an update's value, the version has both the content and `v`. Opaque outside this file.
 * @throws {Error} as `toInventoryItem`
 */
export function readVersion(attributes: Record<string, AttributeValue>): string {
  const { v } = attributes;
  if (v?.B && toBytes(v.B).length === VERSION_BYTES) return toUpdateVersion(v);
  const { quantity, status } = toInventoryItem(attributes);
  const content = Buffer.alloc(CONTENT_BYTES);
  content.writeUInt32BE(quantity);
  content.write(letterOf[status], CONTENT_BYTES - 1);
  const version = content.toString('base64url');
  if (!v) return version;
  const [[type, value]] = Object.entries(v) as [[string, string]];
  const bytes = type === 'B' ? toBytes(value) : Buffer.from(String(value));
  const whole = `${version}.${type}.${bytes.toString('base64url')}`;
  if (!buildCondition(whole, 0)) throw invalidAttribute(attributes, 'v');
  return whole;
}

export function toUpdateVersion({ B }: AttributeValue.BMember): string {
  return toBytes(B).toString('base64url');
}

/** In a page read without the SDK, bytes are still base64, as in DynamoDB's JSON. */
function toBytes(value: Uint8Array | string): Buffer {
  return Buffer.from(value as string, 'base64');
}

/** An unpredictable version for an update. */
export function newVersion(): string {
  return randomBytes(VERSION_BYTES).toString('base64url');
}

/** The quantity in four bytes, a zero byte, which makes it longer than an update's value, and the status. */
const CONTENT_BYTES = 6;

export function toVersionValue(version: string): AttributeValue {
  return { B: Buffer.from(version, 'base64url') };
}

/** The content, and the type and the value of a `v` that is no update's: 64 bytes at most. */
const contentVersion = /^([\w-]{8})(?:\.([BNS])\.([\w-]{0,86}))?$/;

/**
 * The condition that an entry has a version; `undefined` if the text is not one of our versions.
 * @param index makes the names of its values unique
 */
export function buildCondition(version: string, index: number) {
  const [v, q, s] = [`:v${index}`, `:q${index}`, `:s${index}`] as const;
  const [, content, type, text] = contentVersion.exec(version) ?? [];
  if (content === undefined) {
    const value = toValue('B', version);
    if (value?.B?.length !== VERSION_BYTES) return undefined;
    return { expression: `v = ${v}`, values: { [v]: value } };
  }
  const bytes = Buffer.from(content, 'base64url');
  const value = type && toValue(type, text);
  if (bytes[4] !== 0 || (type && !value)) return undefined;
  return {
    expression: `${value ? `v = ${v}` : 'attribute_not_exists(v)'} AND q = ${q} AND s = ${s}`,
    values: {
      [q]: { N: String(bytes.readUInt32BE()) },
      [s]: { S: bytes.toString('latin1', CONTENT_BYTES - 1) },
      ...(value && { [v]: value }),
    },
  };
}

/** A number as DynamoDB returns it, with at most 38 digits. */
const decimal = /^(?=(?:\D?\d){1,38}$)-?\d+(?:\.\d+)?$/;

/** The value that a version's text stands for; `undefined` if it is not the text that `readVersion` makes. */
function toValue(type: string, text = ''): AttributeValue | undefined {
  const bytes = Buffer.from(text, 'base64url');
  // One state has one spelling, but the decoder ignores characters outside base64url.
  if (bytes.toString('base64url') !== text) return undefined;
  if (type === 'B') return { B: bytes };
  const value = bytes.toString();
  if (type === 'S') return { S: value };
  return decimal.test(value) ? { N: value } : undefined;
}

/** An entry's key, by the canonical text of its petId. */
export function toKey(petId: string): Record<string, AttributeValue> {
  return { p: { N: petId } };
}

/** @throws {Error} as `toInventoryItem` */
export function readPetStatus(attributes: Record<string, AttributeValue>): PetStatus {
  const status = statusOf.get(attributes.s?.S);
  if (status === undefined) throw invalidAttribute(attributes, 's');
  return status;
}

/** What each attribute is, and what is right. */
const rules = {
  p: ['petId', INT64_ERROR],
  q: ['quantity', quantityError(0)],
  s: ['status', 'must be "a", "p" or "s"'],
  v: ['version', 'must be bytes, a text or a number, of at most 64 bytes'],
} as const;

function invalidAttribute(
  attributes: Record<string, AttributeValue>,
  name: keyof InventoryRecord,
): Error {
  const [member, rule] = rules[name];
  const problem = describeProblem(attributes[name], `${name} (${member})`, rule);
  return invalidRecord(`petId ${attributes.p?.N}`, [problem]);
}
