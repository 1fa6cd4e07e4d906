import type { Asking } from '../asking/asking.ts';
import { type AskedHead, Mismatch } from '../asking/failures.ts';
import { findMissing, type ListedIds } from './listedIds.ts';
import { walkInventory } from './pages.ts';

/** Entries of the inventory, in whichever way they were read. */
export interface Reading {
  readonly ids: ListedIds;
  /** The last answer of those that had them. */
  readonly head: AskedHead;
}

/**
 * Holds the first pages against a later reading of the inventory. What they lack may have been added in
 * between, so they are read once more then: no entry is ever taken away.
 * @param name of the other reading, for the report
 * @throws {Mismatch} when one lacks an entry of the other
 */
export async function comparePages(
  asking: Asking,
  pages: Reading,
  other: Reading,
  name: string,
): Promise<void> {
  const lost = findMissing(pages.ids, other.ids);
  if (lost !== undefined) {
    throw new Mismatch(other.head, `the entry ${lost}, which the first pages have`, 'without it');
  }
  if (findMissing(other.ids, pages.ids) === undefined) return;
  const again = await walkInventory(asking);
  const unpaged = findMissing(other.ids, again.ids);
  if (unpaged === undefined) return;
  throw new Mismatch(again.head, `the entry ${unpaged}, which ${name}`, 'and no page had it');
}
