import type { InventoryItem, Named, Order, Pet, TaggedInventoryItem } from './resources.ts';

/*
 * Each makes a resource of a document. Members that are not known stay, and what makes no sense as an
 * id, or is no object at all, throws.
 */

export function toInventoryItem(document: unknown): InventoryItem {
  const item = document as InventoryItem;
  return { ...item, petId: toId(item.petId) };
}

export function toTaggedItem(document: unknown): TaggedInventoryItem {
  const item = toInventoryItem(document) as TaggedInventoryItem;
  // Who updates with a tag that is missing updates unconditionally, and learns nothing of it.
  if (typeof item.etag !== 'string') throw new TypeError('The tag is missing.');
  return item;
}

export function toPet(document: unknown): Pet {
  const pet = toNamed(document) as Pet;
  return {
    ...pet,
    ...(pet.category && { category: toNamed(pet.category) }),
    ...(pet.tags && { tags: pet.tags.map(toNamed) }),
  };
}

export function toOrder(document: unknown): Order {
  const order = document as Order;
  return { ...order, id: toId(order.id), petId: toId(order.petId) };
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
  return { ...named, id: toId(named.id) };
}

/** @throws when it is no integer */
function toId(value: unknown): bigint {
  if (typeof value !== 'number' && typeof value !== 'bigint')
    throw new TypeError('An id is missing.');
  return BigInt(value);
}
