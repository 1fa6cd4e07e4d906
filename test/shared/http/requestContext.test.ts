import { describe, expect, it } from 'vitest';
import { updateInventory } from '../../../shared/contract/operations/updateInventory.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import { defineHandlerSettings } from '../../support/handlerSettings.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const client = defineHandlerSettings('write');

/** What the handler is given of a request, or the status of the refusal. */
async function given(
  member: 'ifMatch' | 'idempotencyKey',
  headers: Record<string, string[]>,
  { apiKey, settings } = client,
): Promise<unknown> {
  let given: unknown;
  const handler = defineHandler(updateInventory, settings, async (context) => {
    given = context[member];
    return { body: {} };
  });
  const event = toProxyRequest(
    { Authorization: [`Bearer ${apiKey}`], 'Content-Type': ['application/json'], ...headers },
    { petId: '7' },
  );
  const request = { ...event, body: '{"quantity":1}' };
  const { statusCode } = (await handler(request as never, {} as never)) as HttpResponse;
  return statusCode === 200 ? given : statusCode;
}

const versionsOf = (headers: Record<string, string[]>) => given('ifMatch', headers);

describe('a header that is sent in two cases', () => {
  it('has the lines of both', async () => {
    expect(await versionsOf({ 'If-Match': ['"a"'], 'if-match': ['"b"', '"c"'] })).toEqual([
      ...['a', 'b', 'c'],
    ]);
  });

  it('lets nobody in by one good Authorization among two', async () => {
    expect(await versionsOf({ authorization: ['Bearer nonsense'] })).toBe(401);
    expect(await versionsOf({ AUTHORIZATION: [`Bearer ${client.apiKey}`] })).toBe(401);
  });
});

describe('If-Match', () => {
  const tags = (count: number) => Array.from({ length: count }, (_, tag) => `"${tag}"`).join(', ');

  it('names any version when it is absent or *', async () => {
    expect(await versionsOf({})).toBeUndefined();
    expect(await versionsOf({ 'If-Match': [' * '] })).toBeUndefined();
  });

  it('drops weak tags, which match nothing strongly', async () => {
    expect(await versionsOf({ 'If-Match': ['W/"a", "b"'] })).toEqual(['b']);
    expect(await versionsOf({ 'If-Match': ['W/"a"'] })).toEqual([]);
  });

  it('may name 20 versions, and is refused with more', async () => {
    expect(await versionsOf({ 'If-Match': [tags(20)] })).toHaveLength(20);
    expect(await versionsOf({ 'If-Match': [tags(21)] })).toBe(400);
  });
});

describe('Idempotency-Key', () => {
  it('is optional, and tells the requests of one API key apart from those of another', async () => {
    const [one, other] = [defineHandlerSettings('write'), defineHandlerSettings('write')];
    expect(await given('idempotencyKey', {}, one)).toBeUndefined();
    const headers = { 'Idempotency-Key': ['abc'] };
    expect(await given('idempotencyKey', headers, one)).toBe(
      await given('idempotencyKey', headers, one),
    );
    expect(await given('idempotencyKey', headers, one)).not.toBe(
      await given('idempotencyKey', headers, other),
    );
    expect(await given('idempotencyKey', headers, one)).not.toBe(
      await given('idempotencyKey', { 'Idempotency-Key': ['abd'] }, one),
    );
  });

  it('is refused when it is empty, too long, given twice, or not visible ASCII', async () => {
    const keyOf = (...lines: string[]) => given('idempotencyKey', { 'Idempotency-Key': lines });
    expect(await keyOf('x'.repeat(255))).toBeTypeOf('string');
    for (const lines of [[''], ['x'.repeat(256)], ['a', 'b'], ['a b'], ['\u007f'], ['é']]) {
      expect(await keyOf(...lines)).toBe(400);
    }
  });
});
