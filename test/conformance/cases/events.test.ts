import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineFreshFunctions, openLocalTarget } from '../localTarget.ts';
import { readEntry } from '../operations/inventoryEntry.ts';
import type { ConformanceTarget } from '../target.ts';

interface ProxyResult {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

// What API Gateway can send and the local stage does not: the handler is called with the event itself.
describe('updateInventory called with a proxy event', () => {
  let target: ConformanceTarget;
  let handler: (event: APIGatewayProxyEvent, context: Context) => Promise<ProxyResult>;
  beforeAll(async () => {
    const loadHandler = defineFreshFunctions();
    target = await openLocalTarget({ loadHandler });
    ({ handler } = (await loadHandler('updateInventory')) as never);
  }, 30_000);
  afterAll(() => target?.close());

  async function call(changes: Partial<APIGatewayProxyEvent>): Promise<ProxyResult> {
    const petId = `${target.fixtures.changeablePetId}`;
    const result = await handler(toUpdateEvent(petId, target.apiKey, changes), toContext());
    const body = JSON.parse(result.body);
    if (result.statusCode !== 200) expect(body.status).toBe(result.statusCode);
    expect(result.headers).toHaveProperty('X-Request-Id');
    expect(result.headers['Content-Type']).toBe('application/json');
    return { ...result, body };
  }

  const base64 = (text: string | Uint8Array) => ({
    body: Buffer.from(text).toString('base64'),
    isBase64Encoded: true,
  });

  test('reads a body in base64', async () => {
    expect(await call(base64('{"quantity":21}'))).toMatchObject({
      statusCode: 200,
      body: { quantity: 21 },
    });
    expect(await readEntry(target, target.fixtures.changeablePetId)).toMatchObject({
      quantity: 21,
    });
  });

  test.each([
    ['a body in base64 that is not JSON', base64('quantity=5')],
    ['a body in base64 that is not UTF-8', base64(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d))],
    ['an empty body in base64', base64('')],
    ['JSON that is said to be base64', { body: '{"quantity":5}', isBase64Encoded: true }],
    ['no body', { body: null }],
    ['no body that is said to be base64', { body: null, isBase64Encoded: true }],
  ])('answers 400 to %s', async (_, changes) => {
    expect(await call(changes)).toMatchObject({
      statusCode: 400,
      body: { code: 'invalid_request' },
    });
  });

  test('answers 400 when the path parameters are missing', async () => {
    expect(await call({ pathParameters: null })).toMatchObject({ statusCode: 400 });
  });

  test('answers 401 when there are no headers at all', async () => {
    const changes = { headers: null, multiValueHeaders: null } as never;
    expect(await call(changes)).toMatchObject({ statusCode: 401, body: { code: 'unauthorized' } });
  });

  test('answers 415 to no body without a Content-Type: the media type comes first', async () => {
    const headers = { authorization: `Bearer ${target.apiKey}` };
    const changes = { body: null, headers, multiValueHeaders: toMultiValue(headers) };
    expect(await call(changes)).toMatchObject({ statusCode: 415 });
  });

  test('answers 401 to two Authorization headers', async () => {
    const headers = {
      Authorization: `Bearer ${target.apiKey}`,
      'content-type': 'application/json',
    };
    const multiValueHeaders = {
      ...toMultiValue(headers),
      Authorization: ['Bearer nonsense', headers.Authorization],
    };
    expect(await call({ headers, multiValueHeaders })).toMatchObject({ statusCode: 401 });
  });

  test('joins the lines of If-Match', async () => {
    const { headers } = await call({ body: '{"quantity":1}' });
    const sent = toUpdateEvent('', target.apiKey).headers as Record<string, string>;
    const multiValueHeaders = {
      ...toMultiValue(sent),
      'If-Match': [headers.ETag ?? '', '"other"'],
    };
    const changes = { headers: { ...sent, 'If-Match': '"other"' }, multiValueHeaders };
    expect(await call(changes)).toMatchObject({ statusCode: 200 });
  });
});

/** An event of PATCH /inventory/{petId} as API Gateway's REST proxy integration makes it. */
function toUpdateEvent(
  petId: string,
  apiKey: string,
  changes: Partial<APIGatewayProxyEvent> = {},
): APIGatewayProxyEvent {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  const event: Omit<APIGatewayProxyEvent, 'requestContext'> = {
    resource: '/inventory/{petId}',
    path: `/inventory/${petId}`,
    httpMethod: 'PATCH',
    headers,
    multiValueHeaders: toMultiValue(headers),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: { petId },
    stageVariables: null,
    body: '{"quantity":5}',
    isBase64Encoded: false,
    ...changes,
  };
  const requestContext = { requestId: randomUUID(), stage: 'v1', httpMethod: 'PATCH' };
  return { ...event, requestContext } as APIGatewayProxyEvent;
}

function toMultiValue(headers: Record<string, string>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

function toContext(): Context {
  return {
    awsRequestId: randomUUID(),
    functionName: 'updateInventory',
    getRemainingTimeInMillis: () => 28_000,
  } as Context;
}
