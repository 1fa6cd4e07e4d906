import { expect, it } from 'vitest';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { streamedResponse } from '../../../shared/http/middleware/streamedResponse.ts';
import { apiKey, call, settings, useLogs, withKey } from './callHandler.ts';

useLogs();
const shop = 'https://shop.example';
const listed = { ...settings, allowedOrigins: ['https://www.petstore.example', shop] };

async function* onePage() {
  yield { items: Buffer.from('{}'), isLast: true };
}

const answerDocument = async () => ({ body: {} });
const response = streamedResponse();
const handlers = {
  'a document': defineHandler(getPet, listed, answerDocument),
  'a list': defineHandler(listInventory, listed, async () => ({ pages: onePage() }), { response }),
};

const foreign = [
  ...['https://foreign.example', `${shop}.foreign.example`, 'http://shop.example'],
  ...[`${shop}:8443`, 'null', '*', '', undefined],
];

// A cache must not give one origin's answer to another, nor a compressed list to whom takes none.
it.each([
  ['a document', 200, apiKey, 'Origin'],
  ['a list', 200, apiKey, 'Accept-Encoding, Origin'],
  ['a document', 401, 'nonsense', 'Origin'],
  ['a list', 401, 'nonsense', 'Origin'],
] as const)(
  'with listed origins, %s answered with %i can be read from one of them alone',
  async (name, status, key, vary) => {
    for (const origin of [shop, ...foreign]) {
      const headers = { ...withKey(key), ...(origin !== undefined && { Origin: [origin] }) };
      const response = await call(handlers[name], { headers });
      expect(response.statusCode).toBe(status);
      expect(response.headers.Vary).toBe(vary);
      const { headers: named } = response;
      const exposed = named['Access-Control-Expose-Headers'];
      expect(named['Access-Control-Allow-Origin'], origin).toBe(origin === shop ? shop : undefined);
      expect(exposed?.includes('X-Request-Id'), origin).toBe(origin === shop ? true : undefined);
    }
  },
);

it('with any origin allowed, an answer is the same for all and varies by none', async () => {
  const { headers } = await call(defineHandler(getPet, settings, answerDocument));
  expect(headers['Access-Control-Allow-Origin']).toBe('*');
  expect(headers).not.toHaveProperty('Vary');
});
