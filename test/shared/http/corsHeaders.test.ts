import { describe, expect, it } from 'vitest';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { streamedResponse } from '../../../shared/http/middleware/streamedResponse.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import { defineHandlerSettings } from '../../support/handlerSettings.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const shop = 'https://shop.example';
const { apiKey, settings } = defineHandlerSettings('read', ['https://www.petstore.example', shop]);

async function* onePage() {
  yield { items: Buffer.from('{}'), isLast: true };
}

type Handler = (event: never, context: never) => Promise<unknown>;

const handlers: Record<'a document' | 'a list', Handler> = {
  'a document': defineHandler(getPet, settings, async () => ({ body: {} })),
  'a list': defineHandler(listInventory, settings, async () => ({ pages: onePage() }), {
    response: streamedResponse(),
  }),
};
const outcomes = [
  ['a document', 200, apiKey],
  ['a list', 200, apiKey],
  ['a document', 401, 'nonsense'],
  ['a list', 401, 'nonsense'],
] as const;

describe.each(outcomes)('with listed origins, %s answered with %i', (name, status, key) => {
  async function headersFor(origin?: string): Promise<Record<string, string>> {
    const event = toProxyRequest(
      { Authorization: [`Bearer ${key}`], ...(origin !== undefined && { Origin: [origin] }) },
      { petId: '7' },
    );
    const response = (await handlers[name](event as never, {} as never)) as HttpResponse;
    expect(response.statusCode).toBe(status);
    // A cache must not give one origin's answer to another, nor a compressed list to whom takes none.
    const isList = name === 'a list' && status === 200;
    expect(response.headers.Vary).toBe(isList ? 'Accept-Encoding, Origin' : 'Origin');
    return response.headers;
  }

  it('can be read from one of them, which it names alone', async () => {
    const headers = await headersFor(shop);
    expect(headers['Access-Control-Allow-Origin']).toBe(shop);
    expect(headers['Access-Control-Expose-Headers']).toContain('X-Request-Id');
  });

  it.each([
    'https://foreign.example',
    'https://shop.example.foreign.example',
    'http://shop.example',
    'https://shop.example:8443',
    'null',
    '*',
    '',
  ])('cannot be read from %j', async (origin) => {
    const headers = await headersFor(origin);
    expect(Object.keys(headers).filter((header) => header.startsWith('Access-'))).toEqual([]);
  });

  it('names none to a client that is no browser', async () => {
    const headers = await headersFor();
    expect(Object.keys(headers).filter((header) => header.startsWith('Access-'))).toEqual([]);
  });
});

it('with any origin allowed, an answer is the same for all and varies by none', async () => {
  const open = defineHandlerSettings();
  const handler = defineHandler(getPet, open.settings, async () => ({ body: {} }));
  const event = toProxyRequest({ Authorization: [`Bearer ${open.apiKey}`] }, { petId: '7' });
  const { headers } = (await handler(event as never, {} as never)) as HttpResponse;
  expect(headers['Access-Control-Allow-Origin']).toBe('*');
  expect(headers).not.toHaveProperty('Vary');
});
