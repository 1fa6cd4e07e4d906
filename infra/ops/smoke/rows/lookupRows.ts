import { Mismatch } from '../asking/failures.ts';
import { type Entry, toSample, type Walk } from '../lists/pages.ts';
import type { Row } from './row.ts';

/** The most ids that a request can have, one of which nothing has. */
const MOST_IDS = 100;

/** Entries by their ids. */
export const lookupRows: readonly Row[] = [
  {
    name: 'answers no entry for an id that none has',
    async check(stage) {
      const answer = await stage.ask({ path: `/inventory?petId=${stage.found.missingPetId}` }, 200);
      if ((answer.json() as Entry[]).length > 0) throw new Mismatch(answer, '[]');
    },
  },
  {
    name: 'answers the entries of some ids, in that order, ids exact',
    needs: ['entry'],
    async check(stage) {
      const { found } = stage;
      const wanted = toSample(found.walk as Walk, MOST_IDS - 1).reverse();
      const ids = wanted.map(({ petId }) => `${petId}`);
      const query = ids.toSpliced(1, 0, `${found.missingPetId}`).join();
      const answer = await stage.ask({ path: `/inventory?petId=${query}` }, 200);
      const listed = (answer.json() as Entry[]).map(toUnchanging);
      const expected = wanted.map(toUnchanging);
      const at = expected.findIndex((one, index) => one !== listed[index]);
      if (at >= 0) throw new Mismatch(answer, `${expected[at]}`, `with ${listed[at] ?? 'nothing'}`);
      if (listed.length > ids.length) throw new Mismatch(answer, 'the entries of these ids alone');
    },
  },
  {
    name: 'gives each entry its tag with include=etag',
    needs: ['entry'],
    async check(stage) {
      const { found } = stage;
      const ids = toSample(found.walk as Walk, 3).map(({ petId }) => petId);
      const path = `/inventory?petId=${ids}&include=etag`;
      const answer = await stage.ask({ path }, 200);
      const tags = (answer.json() as Entry[]).map(({ etag = '' }) => etag);
      if (tags.length === ids.length && tags.every((tag) => /^"[\x21\x23-\x7e]+"$/.test(tag)))
        return;
      throw new Mismatch(answer, 'an etag of each entry, in double quotes');
    },
  },
];

/** What no update of an entry changes. */
function toUnchanging({ petId, status }: Entry): string {
  return `${petId} ${status}`;
}
