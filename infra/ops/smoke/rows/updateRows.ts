import type { Row } from './row.ts';
import { toRefusedUpdate } from './validRequests.ts';

const malformed = ['abc', '9223372036854775808'];
const badBodies = ['{', '{}', '{"quantity":-1}', '{"quantity":2147483648}', '{"quantity":"5"}'];

/** Updates that are refused, of an entry that does not exist and under a tag that none has. */
export const updateRows: readonly Row[] = [
  {
    name: 'refuses a read key, or an id that no entry has',
    async check(stage) {
      const { found } = stage;
      const request = toRefusedUpdate(`${found.missingPetId}`, {});
      const { status } = await stage.ask(request, 'forbidden', 'not_found');
      found.permission = status === 403 ? 'read' : 'write';
    },
  },
  {
    name: 'refuses a read key before it looks at anything else',
    needs: ['read key'],
    async check(stage) {
      await stage.ask(toRefusedUpdate('abc', { type: 'text/plain', body: '{' }), 'forbidden');
    },
  },
  {
    name: 'refuses an id that is no int64, before it looks at the body',
    needs: ['write key'],
    async check(stage) {
      // No other spelling of an id that some entry has.
      for (const petId of [...malformed, `${stage.found.missingPetId}.0`]) {
        const request = toRefusedUpdate(petId, { type: 'text/plain', body: '{' });
        await stage.ask(request, 'invalid_request');
      }
    },
  },
  {
    name: 'refuses a body that is not said to be JSON, before it reads it',
    needs: ['write key'],
    async check(stage) {
      const { missingPetId } = stage.found;
      const request = toRefusedUpdate(`${missingPetId}`, { type: 'text/plain', body: '{' });
      await stage.ask(request, 'unsupported_media_type');
    },
  },
  ...(badBodies.map((body) => ({
    name: `refuses the body ${body}`,
    needs: ['write key'],
    check: async (stage) => {
      const request = toRefusedUpdate(`${stage.found.missingPetId}`, { body });
      await stage.ask(request, 'invalid_request');
    },
  })) satisfies Row[]),
];
