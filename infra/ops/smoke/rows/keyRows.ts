import { challenge } from '../../../../shared/contract/errorBody.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import { mintApiKey, parseApiKey } from '../../../../shared/keys/apiKey.ts';
import { checkHeader } from '../asking/expectation.ts';
import type { AskedHead } from '../asking/failures.ts';
import type { Row, Stage } from './row.ts';
import { toValidRequest } from './validRequests.ts';

const invalid = new RegExp(`^${challenge}, ?error="invalid_token"`);

/** Who is let in. */
export const keyRows: readonly Row[] = [
  ...operationIds.map((operationId) => ({
    name: `${operationId} asks for a key`,
    check: async (stage: Stage) => {
      const request = toValidRequest(operationId, stage.found);
      const answer = await stage.ask({ ...request, apiKey: null }, 'unauthorized');
      checkHeader(answer, toChallengeName(answer), challenge);
    },
  })),
  ...operationIds.map((operationId) => ({
    name: `${operationId} refuses a malformed key and an unknown one`,
    check: async (stage: Stage) => {
      const request = toValidRequest(operationId, stage.found);
      for (const apiKey of ['smoke', mintApiKey().apiKey]) {
        const answer = await stage.ask({ ...request, apiKey }, 'unauthorized');
        checkHeader(
          answer,
          toChallengeName(answer),
          invalid,
          `${challenge}, error="invalid_token"`,
        );
      }
    },
  })),
  {
    name: 'the key with another secret is refused',
    async check(stage) {
      const { apiKey } = mintApiKey(parseApiKey(stage.apiKey)?.keyId);
      await stage.ask({ path: '/store/orders?limit=1', apiKey }, 'unauthorized');
    },
  },
  {
    name: 'the scheme and the name of the header may be in any case',
    async check(stage) {
      const headers = { aUTHORIZATION: `bEARER ${stage.apiKey}` };
      await stage.ask({ path: '/store/orders?limit=1', apiKey: null, headers }, 200);
    },
  },
];

/** API Gateway renames the header of a function's answer. */
function toChallengeName({ headers }: AskedHead): string {
  const remapped = 'x-amzn-Remapped-WWW-Authenticate';
  return headers.has(remapped) ? remapped : 'WWW-Authenticate';
}
