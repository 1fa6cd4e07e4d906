import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { defineAwslambda } from '../../../infra/local/lambda/lambdaRuntime.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { updateInventory } from '../../../shared/contract/operations/updateInventory.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { defineStreamedHandler } from '../../../shared/http/defineStreamedHandler.ts';
import { defineHandlerSettings } from '../../support/handlerSettings.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const { apiKey, settings } = defineHandlerSettings('write');
const headers = { Authorization: [`Bearer ${apiKey}`], 'Content-Type': ['application/json'] };
const event = { ...toProxyRequest(headers, { petId: '7' }), body: '{"quantity":1}' };
const context = { awsRequestId: 'request-2', functionVersion: '3' };

let log: MockInstance<typeof console.info>;
let errors: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, 'info').mockImplementation(() => {});
  errors = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

// What API Gateway never sends: a mistake in the stack, or a call by hand.
const odd: Record<string, [event: unknown, context: unknown, status: number]> = {
  'no event': [undefined, context, 401],
  'an event of nothing': [null, context, 401],
  'an event that is text': ['event', context, 401],
  'no context': [event, undefined, 200],
  'a context of nothing': [event, null, 200],
  'neither event nor context': [null, null, 401],
  'a request context of nothing': [{ ...event, requestContext: null }, context, 200],
  'headers that are text': [{ ...event, multiValueHeaders: 'headers' }, context, 500],
  'a header that is text': [{ ...event, multiValueHeaders: { a: 'text' } }, context, 500],
  'a header that is a number': [{ ...event, multiValueHeaders: { a: 5 } }, context, 500],
  'a header of nothing': [{ ...event, multiValueHeaders: { a: null } }, context, 500],
  'a header whose line is a number': [
    { ...event, multiValueHeaders: { ...headers, Authorization: [5] } },
    context,
    401,
  ],
  'a query that is a number': [
    { ...event, multiValueQueryStringParameters: { limit: 5 } },
    context,
    200,
  ],
  'a body that is an object': [{ ...event, body: { quantity: 1 } }, context, 400],
};

describe.each(Object.entries(odd))('%s', (_, [event, context, status]) => {
  it(`is answered ${status}, with one line in the log`, async () => {
    const handler = defineHandler(updateInventory, settings, async () => ({ body: {} }));
    const response = await (handler as (...args: unknown[]) => Promise<Response>)(event, context);
    expect(response.statusCode).toBe(status);
    expect(response.headers['X-Request-Id']).toMatch(/^[\w-]{8,}$/);
    expect(JSON.parse(response.body)).toMatchObject(status === 200 ? {} : { status });
    expect(log.mock.calls).toMatchObject([[{ operation: 'updateInventory', status }]]);
    expect(errors).toHaveBeenCalledTimes(status === 500 ? 1 : 0);
  });
});

it('a streamed operation answers such an event too', async () => {
  defineAwslambda();
  const handler = defineStreamedHandler(listInventory, settings, async () => ({ body: [] }));
  const sent = new PassThrough();
  const invoke = handler as unknown as (...args: unknown[]) => Promise<void>;
  await invoke({ multiValueHeaders: { a: 5 } }, sent, null);
  expect(JSON.parse(await text(sent))).toMatchObject({ code: 'internal_error', status: 500 });
  expect(log).toHaveBeenCalledOnce();
});

interface Response {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}
