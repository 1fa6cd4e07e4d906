import { expect } from 'vitest';
import { type ErrorCode, refusalCodes, statusOfCode } from '../../shared/contract/errorBody.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { ErrorBody } from '../../shared/contract/schemas.ts';
import type { ExactResponse } from '../support/exactFetch.ts';

const exposedHeaders =
  'allow deprecation etag idempotent-replayed link retry-after sunset www-authenticate x-request-id'.split(
    ' ',
  );

export function expectSuccess(response: ExactResponse, operationId: OperationId): void {
  expect(`${response.status} ${response.status === 200 ? '' : response.text}`).toBe('200 ');
  expectCommon(response);
  expectCaching(response);
  expectLifecycle(response, operationId);
}

export function expectError(
  response: ExactResponse,
  code: ErrorCode,
  operationId?: OperationId,
): void {
  expect(`${response.status} ${response.text.slice(0, 300)}`).toContain(`${statusOfCode[code]} {`);
  expectCommon(response);
  const body = response.json() as Record<string, unknown>;
  expect(ErrorBody.safeParse(body).error).toBeUndefined();
  const isOutcome = operationId === 'adjustInventory' && refusalCodes.some((one) => one === code);
  const members = ['code', 'message', ...(isOutcome ? ['refused'] : []), 'status'];
  expect(Object.keys(body).sort()).toEqual(members);
  expect(body).toMatchObject({ code, status: response.status });
  expectNoLeak(String(body.message));
  if (code === 'service_unavailable' || code === 'too_many_requests') {
    expect(response.headers.get('Retry-After')).toMatch(/^\d+$/);
  }
  // The gateway sends errors with other codes.
  const ofFunction = operationId && operations[operationId].errors.some((one) => one === code);
  if (ofFunction) expectCaching(response);
  if (operationId !== undefined) expectLifecycle(response, operationId);
}

/** Expects API Gateway's own refusal of a body of so many bytes: past 10 MB it is plain text, which we cannot change. */
export function expectTooLarge({ status, headers, text }: ExactResponse, bytes = 0): void {
  const isPlain = bytes > 10 * 1024 ** 2;
  const [type, message] = isPlain ? ['text/plain', /exceeded/] : ['application/json', /Too Long/];
  expect([status, headers.get('Content-Type')]).toEqual([413, type]);
  expect(text).toMatch(message);
}

/** Expects the headers that let a browser storefront at `origin` read the response. */
export function expectReadableFrom(origin: string, response: ExactResponse): void {
  expect([origin, '*']).toContain(response.headers.get('Access-Control-Allow-Origin'));
  const exposed = response.headers.get('Access-Control-Expose-Headers') ?? '';
  const names = exposed.split(',').map((name) => name.trim().toLowerCase());
  expect(names.sort()).toEqual(exposedHeaders);
}

function expectCommon({ headers }: ExactResponse): void {
  expect(headers.get('Content-Type')).toMatch(/^application\/json(; ?charset=utf-8)?$/i);
  expect(headers.get('X-Request-Id')).toMatch(/^[\w-]{8,}$/);
}

function expectCaching({ headers }: ExactResponse): void {
  expect(headers.get('Cache-Control')).toBe('private, no-cache');
}

function expectLifecycle({ headers }: ExactResponse, operationId: OperationId): void {
  const { lifecycle } = operations[operationId] as Operation;
  const isDeprecated = lifecycle.kind === 'deprecated';
  expect([headers.get('Deprecation'), headers.get('Sunset')]).toEqual(
    isDeprecated ? [`@${+lifecycle.since / 1000}`, lifecycle.sunset.toUTCString()] : [null, null],
  );
  const [, guide] =
    /<https?:\/\/[^>]+\/([^/>]+)>; ?rel="deprecation"/.exec(headers.get('Link') ?? '') ?? [];
  expect(guide).toBe(isDeprecated ? lifecycle.guide : undefined);
}

function expectNoLeak(message: string): void {
  expect(message).toMatch(/\w+ \w+/);
  expect(message).not.toMatch(
    /dynamo|arn:|\baws\b|sdk|exception|middy|zod|node_modules|\.[jt]s\b/i,
  );
  expect(message).not.toMatch(/psk_|\n/);
}
