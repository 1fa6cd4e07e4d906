import { allowedRequestHeaders, exposedHeaders } from '../../../../shared/contract/headers.ts';
import { operationIds, operations } from '../../../../shared/contract/operations.ts';
import type { Answer } from '../asking/expectation.ts';
import { Mismatch } from '../asking/failures.ts';
import type { Row, Stage } from './row.ts';
import { toValidRequest } from './validRequests.ts';

const stranger = 'https://smoke.invalid';

/** What pages of an allowed origin can do (https://fetch.spec.whatwg.org/#http-cors-protocol). */
export const browserRows: readonly Row[] = [
  {
    name: 'are told which origins may call',
    async check(stage) {
      const { found } = stage;
      const asking = found.origin ?? stranger;
      const answer = await preflight(stage, 'listInventory', asking);
      const allowed = answer.headers.get('Access-Control-Allow-Origin');
      if (found.origin !== undefined) checkOrigin(answer, found.origin);
      else found.origin = allowed === '*' ? stranger : (allowed ?? undefined);
    },
  },
  ...(operationIds.map((operationId) => ({
    name: `may call ${operationId}: the preflight needs no key`,
    needs: ['origin'],
    check: async (stage) => {
      const { origin = '' } = stage.found;
      const answer = await preflight(stage, operationId, origin);
      checkOrigin(answer, origin);
      checkNames(answer, 'Access-Control-Allow-Methods', [operations[operationId].method]);
      checkNames(answer, 'Access-Control-Allow-Headers', allowedRequestHeaders);
    },
  })) satisfies Row[]),
  {
    name: 'can read a list, an error and what the gateway answers by itself',
    needs: ['origin'],
    async check(stage) {
      const { found } = stage;
      const { origin = '' } = found;
      const headers = { Origin: origin };
      const list = { path: '/inventory?limit=1', headers };
      for (const answer of [
        await stage.ask(list, 200),
        await stage.ask({ ...list, apiKey: null }, 'unauthorized'),
        await stage.ask({ path: '/smoke', headers }, 'not_found'),
      ]) {
        checkOrigin(answer, origin);
        checkNames(answer, 'Access-Control-Expose-Headers', exposedHeaders);
      }
    },
  },
];

function preflight(stage: Stage, operationId: keyof typeof operations, origin: string) {
  const { path } = toValidRequest(operationId, stage.found);
  const headers = {
    Origin: origin,
    'Access-Control-Request-Method': operations[operationId].method,
    'Access-Control-Request-Headers': 'authorization,content-type,if-match',
  };
  return stage.ask({ method: 'OPTIONS', path, apiKey: null, headers }, 200, 204);
}

function checkOrigin(answer: Answer, origin: string): void {
  const allowed = answer.headers.get('Access-Control-Allow-Origin');
  if (allowed === origin || allowed === '*') return;
  const came = `with Access-Control-Allow-Origin: ${allowed ?? 'none'}`;
  throw new Mismatch(answer, `Access-Control-Allow-Origin: ${origin}`, came);
}

function checkNames(answer: Answer, header: string, wanted: readonly string[]): void {
  const value = answer.headers.get(header) ?? '';
  const names = value.split(',').map((name) => name.trim().toLowerCase());
  const lost = wanted.filter((name) => !names.includes(name.toLowerCase()));
  if (lost.length > 0) throw new Mismatch(answer, `${lost} in ${header}`, `with "${value}"`);
}
