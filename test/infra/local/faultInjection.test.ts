import { describe, expect, it } from 'vitest';
import {
  type FaultInjection,
  injectedStatuses,
  injectFault,
} from '../../../infra/local/gateway/faultInjection.ts';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { ErrorBody } from '../../../shared/contract/schemas.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { documentationAddress, startTestGateway } from './testGateway.ts';

it('every status of the contract’s errors can be injected', () => {
  expect(injectedStatuses).toEqual(Object.values(statusOfCode));
});

it.each(injectedStatuses)('an injected %i has the contract’s body and headers', async (status) => {
  let calls = 0;
  const handler = async () => {
    calls += 1;
    return { statusCode: 200 };
  };
  const faultInjection = { failures: [{ status, share: 1 }], delayMilliseconds: 0 };
  const gateway = await startTestGateway({ getPet: handler }, 1_000, faultInjection);
  const response = await exactFetch(`${gateway.baseUrl}/pets/1`);
  await gateway.drain();
  expect(response.status).toBe(status);
  expect(calls).toBe(0);
  // API Gateway's own: plain text, and none of our headers.
  if (status === 413) return expect(response.headers.get('Content-Type')).toBe('text/plain');
  const body = ErrorBody.parse(response.json());
  expect([body.status, statusOfCode[body.code]]).toEqual([status, status]);
  expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.headers.get('Deprecation')).toBe('@1796083200');
  expect(response.headers.get('Link')).toContain(`<${documentationAddress}/deprecations`);
  expect(response.headers.has('Retry-After')).toBe(status === 429 || status === 503);
  expect(response.headers.has('WWW-Authenticate')).toBe(status === 401 || status === 403);
  const etag = response.headers.get('ETag');
  expect(etag).toEqual(status === 412 ? expect.stringMatching(/^"[\w-]+"$/) : null);
  expect(response.headers.get('Allow')).toBe(status === 405 ? 'GET, OPTIONS' : null);
});

const call = { operation: getPet, allow: '', documentationAddress };

describe('the draw', () => {
  const faultInjection: FaultInjection = {
    failures: [
      { status: 503, share: 0.1 },
      { status: 429, share: 0.2 },
    ],
    delayMilliseconds: 0,
  };

  it.each([
    [0, 'service_unavailable'],
    [0.0999, 'service_unavailable'],
    [0.1001, 'too_many_requests'],
    [0.2999, 'too_many_requests'],
    [0.3001, undefined],
    [0.9999, undefined],
  ])('%d is %s', async (drawn, code) => {
    expect((await injectFault(faultInjection, call, () => drawn))?.code).toBe(code);
  });

  it('is not made where nothing is to fail, and a delay is kept', async () => {
    const started = performance.now();
    const delay = { failures: [], delayMilliseconds: 30 };
    expect(await injectFault(delay, call, () => expect.fail('drawn'))).toBeUndefined();
    expect(performance.now() - started).toBeGreaterThanOrEqual(29);
  });
});
