import { Mismatch } from '../asking/failures.ts';
import { findMissing } from '../lists/listedIds.ts';
import { type Entry, MOST_PAGES, toIds, type Walk, walkInventory } from '../lists/pages.ts';
import { comparePages } from '../lists/reading.ts';
import type { Row } from './row.ts';

/** So many entries that a page of another size ends elsewhere. */
const LESS = 400;

const refused = [
  'limit=0',
  'limit=1001',
  'limit=1&limit=2',
  'cursor=smoke',
  'status=lost',
  'petId=01',
  'petId=1&limit=1',
  'include=all',
];

/** The inventory in pages. */
export const pageRows: readonly Row[] = [
  {
    name: 'answers pages of at most 1,000 entries, each with three members',
    async check(stage) {
      const { found } = stage;
      const walk = await walkInventory(stage);
      const odd = walk.entries.find((entry) => `${Object.keys(entry)}` !== 'petId,quantity,status');
      if (odd) {
        const came = `with the members ${Object.keys(odd)}`;
        throw new Mismatch(walk.head, 'petId,quantity,status', came);
      }
      found.walk = walk;
    },
  },
  {
    name: 'answers the same entries in smaller pages',
    needs: ['entry'],
    async check(stage) {
      const { found } = stage;
      const { ids } = found.walk as Walk;
      // Short lists in three pages, which the last does not fill.
      const limit = ids.isComplete ? Math.ceil((ids.length + 1) / MOST_PAGES) : LESS;
      const small = await walkInventory(stage, Math.min(limit, LESS));
      await comparePages(stage, found.walk as Walk, small, 'smaller pages have');
    },
  },
  {
    name: 'answers the entries of one status',
    needs: ['entry'],
    async check(stage) {
      const { found } = stage;
      const { entries } = found.walk as Walk;
      const status = entries[0]?.status;
      const answer = await stage.ask({ path: `/inventory?status=${status}&limit=100` }, 200);
      const listed = answer.json() as Entry[];
      const other = listed.find((entry) => entry.status !== status);
      if (other)
        throw new Mismatch(answer, `${status} alone`, `with ${other.petId} ${other.status}`);
      const wanted = entries.filter((entry) => entry.status === status);
      const isComplete = answer.headers.get('Link') === null;
      const lost = findMissing(toIds(wanted, true), toIds(listed, isComplete));
      if (lost !== undefined) throw new Mismatch(answer, `the entry ${lost}`, 'without it');
    },
  },
  {
    name: 'passes over a parameter that it does not know',
    async check(stage) {
      await stage.ask({ path: '/inventory?limit=1&utm_source=smoke' }, 200);
    },
  },
  ...(refused.map((query) => ({
    name: `refuses ${query}`,
    check: async (stage) => {
      await stage.ask({ path: `/inventory?${query}` }, 'invalid_request');
    },
  })) satisfies Row[]),
];
