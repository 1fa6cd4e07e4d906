import { type Refusal, refusalCodes } from '../contract/errorBody.ts';
import { MAX_QUANTITY, orderStatuses, type PetStatus, petStatuses } from '../contract/values.ts';
import { PetstoreError } from './petstoreError.ts';

export type { PetStatus };

/** The stock of one pet. */
export interface InventoryItem {
  petId: bigint;
  /** The stock count: an integer from 0 to 2,147,483,647. */
  quantity: number;
  status: PetStatus;
}

/** An entry with the tag of its current state, as `If-Match` takes it (RFC 9110 section 8.8.3). */
export interface TaggedInventoryItem extends InventoryItem {
  etag: string;
}

export interface InventoryUpdate {
  /** The new stock count: an integer from 0 to 2,147,483,647. */
  quantity: number;
}

/** What to add to the stock count of one pet. */
export interface InventoryAdjustment {
  petId: bigint;
  /** Negative for a sale, positive for a return: an integer from -2,147,483,647 to 2,147,483,647, but not 0. */
  delta: number;
}

export interface Pet {
  id: bigint;
  name: string;
  status: PetStatus;
  category?: Named;
  /** URIs. */
  photoUrls?: string[];
  tags?: Named[];
}

export interface Named {
  id: bigint;
  name: string;
}

export interface Order {
  id: bigint;
  petId: bigint;
  /** An integer of at least 1. */
  quantity: number;
  status: 'placed' | 'approved' | 'delivered';
  /** RFC 3339 date-time. */
  placedAt: string;
  /** RFC 3339 date-time. */
  shipDate?: string;
  complete?: boolean;
}

/*
 * Each converts a document to a resource. It keeps unknown members, and throws if a known one has not the type that
 * the interface promises.
 */

export function toInventoryItem(document: unknown): InventoryItem {
  const item = document as InventoryItem;
  const petId = toId('petId', item.petId);
  requireValid('quantity', isCount(item.quantity, 0));
  requireValid('status', petStatuses.includes(item.status));
  return { ...item, petId };
}

export function toTaggedItem(document: unknown): TaggedInventoryItem {
  const item = toInventoryItem(document) as TaggedInventoryItem;
  // An update with a missing tag would silently be unconditional.
  if (typeof item.etag !== 'string' || item.etag === '') throw new TypeError('The tag is missing.');
  // No update could name it, so each would get a 412.
  if (!unchangedTag.test(item.etag)) {
    const message = 'A proxy changed the ETag: turn off its compression for the service.';
    throw new PetstoreError('invalid_response', message);
  }
  return item;
}

/**
 * Servers that compress weaken a tag, as nginx does, or add the coding, as Apache does: `"AAAACQBh-gzip"`. Tags are
 * opaque, so nothing else is checked. A genuine one may end in `-br` by chance, but has at most 8 characters.
 */
const unchangedTag = /^"(?!.{7,}[-;:+](?:gzip|br|zstd|deflate)"$)[^"]*"$/i;

export function toPet(document: unknown): Pet {
  const pet = toNamed(document) as Pet;
  const { status, category, photoUrls = [], tags } = pet;
  requireValid('status', petStatuses.includes(status));
  requireValid('photoUrls', Array.isArray(photoUrls) && photoUrls.every(isText));
  return {
    ...pet,
    ...(category !== undefined && { category: toNamed(category) }),
    ...(tags !== undefined && { tags: toList(tags, toNamed) }),
  };
}

export function toOrder(document: unknown): Order {
  const order = document as Order;
  const { quantity, status, placedAt, shipDate = '', complete = false } = order;
  const ids = { id: toId('id', order.id), petId: toId('petId', order.petId) };
  requireValid('quantity', isCount(quantity, 1));
  requireValid('status', orderStatuses.includes(status));
  requireValid('placedAt', isText(placedAt));
  requireValid('shipDate', isText(shipDate));
  requireValid('complete', typeof complete === 'boolean');
  return { ...order, ...ids };
}

export function toRefusal(document: unknown): Refusal {
  const refusal = document as Refusal;
  requireValid('code', refusalCodes.includes(refusal.code));
  // What it says of the entry may be missing.
  const { petId } = toInventoryItem({ quantity: 0, status: 'sold', ...refusal });
  return { ...refusal, petId };
}

export function toList<Element>(
  document: unknown,
  toElement: (document: unknown) => Element,
): Element[] {
  if (!Array.isArray(document)) throw new TypeError('It is not a list.');
  return document.map((element) => toElement(element));
}

function toNamed(document: unknown): Named {
  const named = document as Named;
  const id = toId('id', named.id);
  requireValid('name', isText(named.name));
  return { ...named, id };
}

/** @throws if it is not an int64, of which a long one is a bigint */
function toId(member: string, value: unknown): bigint {
  const id = Number.isSafeInteger(value) ? BigInt(value as number) : value;
  requireValid(member, typeof id === 'bigint' && isInt64(id));
  return id as bigint;
}

export function isInt64(id: bigint): boolean {
  return BigInt.asIntN(64, id) === id;
}

/** Whether it is a stock count, or a count of units. */
export function isCount(value: unknown, minimum: number): boolean {
  return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= MAX_QUANTITY;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function requireValid(member: string, isValid: boolean): void {
  if (!isValid) throw new TypeError(`Its ${member} is missing or invalid.`);
}

export const PET_ID_ERROR = 'petId must be a bigint, such as 7n or BigInt("7").';

/** @throws {PetstoreError} if it is not a bigint: a number may already be rounded to another pet's id */
export function toPetIdText(petId: bigint): string {
  if (typeof petId === 'bigint') return petId.toString();
  throw new PetstoreError('invalid_request', PET_ID_ERROR);
}

/** A part of a list, or all of it. */
export interface Page<Element> {
  items: Element[];
  /** The `cursor` of the next page; undefined after the last. */
  next: string | undefined;
}

/** The default `limit` of the page iterators: the service's maximum. */
export const PAGE_LIMIT = 1_000;

/** @throws {PetstoreError} after a page that leads back to an earlier one */
export async function* eachPage<OnePage extends Page<unknown>>(
  first: string | undefined,
  readPage: (cursor: string | undefined) => Promise<OnePage>,
): AsyncGenerator<OnePage, void, undefined> {
  const read = new Set<string | undefined>();
  let cursor = first;
  do {
    read.add(cursor);
    const page = await readPage(cursor);
    yield page;
    cursor = page.next;
    if (cursor !== undefined && read.has(cursor)) {
      const message = 'The next page was already read: the list would never end.';
      throw new PetstoreError('invalid_response', message);
    }
  } while (cursor !== undefined);
}

/**
 * The cursor in the `next` link (RFC 8288). Not the link itself: the key must go only to the client's own base URL.
 * @throws {TypeError} if the link has no cursor, which must not look like the last page
 */
export function readNextCursor(headers: Headers): string | undefined {
  const link = findLink(headers, 'next');
  if (link === undefined) return undefined;
  const cursor = /[?&]cursor=([^&]+)/.exec(link)?.[1];
  if (cursor === undefined) throw new TypeError('The next link has no cursor.');
  return decodeURIComponent(cursor);
}

/** The target of the link with this relation, if the response has one (`Link`, RFC 8288). */
export function findLink(headers: Headers, relation: string): string | undefined {
  for (const [, target, parameters = ''] of (headers.get('Link') ?? '').matchAll(link)) {
    if (new RegExp(`;\\s*rel="?${relation}"?\\s*(;|$)`).test(parameters)) return target;
  }
  return undefined;
}

const link = /<([^>]*)>([^,<]*)/g;
