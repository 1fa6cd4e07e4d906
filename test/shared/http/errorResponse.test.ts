import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { NotFound, StoreUnavailable } from '../../../shared/contract/errors.ts';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { updateInventory } from '../../../shared/contract/operations/updateInventory.ts';
import { petId } from '../../../shared/contract/parameters.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import { defineHandlerSettings } from '../../support/handlerSettings.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const reader = defineHandlerSettings('read');
const writer = defineHandlerSettings('write');
let log: MockInstance<typeof console.error>;

beforeEach(() => {
  vi.spyOn(console, 'info').mockImplementation(() => {});
  log = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

async function answerTo(thrown: unknown): Promise<HttpResponse> {
  const handler = defineHandler(getPet, reader.settings, async () => {
    throw thrown;
  });
  const event = toProxyRequest({ Authorization: [`Bearer ${reader.apiKey}`] }, { petId: '7' });
  return (await handler(event as never, {} as never)) as HttpResponse;
}

describe('a failure on our side', () => {
  it('is a fixed sentence to the client, and told in full to the log', async () => {
    const cause = new Error('the cause');
    const response = await answerTo(new TypeError('a mistake', { cause }));
    expect(response.statusCode).toBe(500);
    expect(JSON.parse(String(response.body))).toEqual({
      code: 'internal_error',
      message: 'Something went wrong on our side; the request id tells us what.',
      status: 500,
    });
    expect(log).toHaveBeenCalledExactlyOnceWith({
      requestId: 'request-1',
      error: {
        name: 'TypeError',
        message: 'a mistake',
        stack: expect.stringContaining('a mistake'),
        cause: { name: 'Error', message: 'the cause', stack: expect.any(String) },
      },
    });
  });

  it('is logged also when what was thrown is no Error', async () => {
    expect((await answerTo('a text')).statusCode).toBe(500);
    expect(log).toHaveBeenCalledOnce();
  });

  it('of the database is 503, and logged with what the SDK said', async () => {
    const response = await answerTo(new StoreUnavailable(new Error('throttled')));
    expect(response).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '5' } });
    expect(JSON.stringify(log.mock.calls)).toContain('throttled');
    expect(response.body).not.toContain('throttled');
  });
});

describe('a refusal', () => {
  it('is not logged as an error', async () => {
    const response = await answerTo(new NotFound(petId, 7n));
    expect(response).toMatchObject({ statusCode: 404 });
    expect(response.headers).not.toHaveProperty('Retry-After');
    expect(JSON.parse(String(response.body)).message).toBe('There is no pet with petId 7.');
    expect(log).not.toHaveBeenCalled();
  });

  it('of a key without the permission says so as RFC 6750 does', async () => {
    const handler = defineHandler(updateInventory, reader.settings, async () => ({ body: {} }));
    const event = toProxyRequest({ Authorization: [`Bearer ${reader.apiKey}`] }, { petId: '7' });
    const response = (await handler(event as never, {} as never)) as HttpResponse;
    expect(response.statusCode).toBe(403);
    expect(response.headers['WWW-Authenticate']).toBe(
      'Bearer realm="petstore", error="insufficient_scope"',
    );
  });
});

describe('a body that is refused', () => {
  async function messageFor(body: string, type = 'application/json'): Promise<string> {
    const handler = defineHandler(updateInventory, writer.settings, async () => ({ body: {} }));
    const headers = { Authorization: [`Bearer ${writer.apiKey}`], 'Content-Type': [type] };
    const event = { ...toProxyRequest(headers, { petId: '7' }), body };
    const response = (await handler(event as never, {} as never)) as HttpResponse;
    return response.statusCode === 200 ? 'none' : JSON.parse(String(response.body)).message;
  }

  it.each([
    ['{"quantity":-1}', 'quantity must be an integer from 0 to 2147483647.'],
    ['{"quantity":"5"}', 'quantity must be an integer from 0 to 2147483647.'],
    ['{}', 'quantity must be an integer from 0 to 2147483647.'],
    ['5', 'The body must be a JSON object with a quantity, such as {"quantity": 5}.'],
    ['null', 'The body must be a JSON object with a quantity, such as {"quantity": 5}.'],
    ['{', 'The body must be valid JSON.'],
    ['{"__proto__":{"quantity":5}', 'The body must be valid JSON.'],
    ['{"__proto__":{"quantity":5}}', 'quantity must be an integer from 0 to 2147483647.'],
    ['{"quantity":5,"x":"\uFFFD"}', 'The body must be encoded in UTF-8.'],
  ])('%s is told what would be right', async (body, message) => {
    expect(await messageFor(body)).toBe(message);
  });

  it('may have white space around the parameters of its media type', async () => {
    expect(await messageFor('{"quantity":5}', 'application/json ; charset=utf-8')).toBe('none');
  });
});
