import { Mismatch } from '../asking/failures.ts';
import { toSample, type Walk } from '../lists/pages.ts';
import type { Row } from './row.ts';

/** No operation lists the pets, so they are looked for under so many ids of the inventory. */
const LOOKED_FOR = 5;

const malformed = ['abc', '01', '9223372036854775808'];

export const petRows: readonly Row[] = [
  {
    name: 'answers 404 to an id that no pet has',
    async check(stage) {
      await stage.ask({ path: `/pets/${stage.found.missingPetId}` }, 'not_found');
    },
  },
  {
    name: 'answers a pet or 404 to the ids of some entries',
    needs: ['entry'],
    async check(stage) {
      const { found } = stage;
      for (const { petId } of toSample(found.walk as Walk, LOOKED_FOR)) {
        const answer = await stage.ask({ path: `/pets/${petId}` }, 200, 'not_found');
        if (answer.status === 200) found.pet ??= BigInt(petId);
      }
    },
  },
  {
    name: 'answers a pet with its id digit for digit, also to a percent-encoded id',
    needs: ['entry', 'pet'],
    async check(stage) {
      const { found } = stage;
      const encoded = Buffer.from(`${found.pet}`).toString('hex').replace(/../g, '%$&');
      const answer = await stage.ask({ path: `/pets/${encoded}` }, 200);
      const { id } = answer.json() as { id: number | bigint };
      if (`${id}` !== `${found.pet}`) throw new Mismatch(answer, `the id ${found.pet}`);
    },
  },
  ...(malformed.map((petId) => ({
    name: `refuses the id ${petId}`,
    check: async (stage) => {
      await stage.ask({ path: `/pets/${petId}` }, 'invalid_request');
    },
  })) satisfies Row[]),
];
