import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findAnswerProblems } from '../../../infra/openapi/answerProblems.ts';

const id = { 'X-Request-Id': '8f2c1e0a-6a6b' };
const json = { ...id, 'Content-Type': 'application/json' };
const list = '[{"petId":9007199254740993,"quantity":1,"status":"sold"}]';
const missing = '{"code":"not_found","message":"There is none.","status":404}';

function find(
  request: string,
  status: number,
  headers: Record<string, string>,
  body: string | Buffer = '',
) {
  const [method = '', path = ''] = request.split(' ');
  const answer = { status, headers: new Headers(headers), bytes: Buffer.from(body) };
  return findAnswerProblems(method, path, answer);
}

describe('an answer that is as documented', () => {
  it.each([
    ['GET /inventory', 200, json, list],
    ['GET /inventory?limit=1', 200, { ...json, 'Content-Encoding': 'gzip' }, gzipSync(list)],
    ['GET /inventory', 200, { ...json, 'Content-Encoding': 'zstd' }, zstdCompressSync(list)],
    ['GET /inventory', 304, { ...id, ETag: 'W/"a"' }, ''],
    ['GET /nothing', 404, { ...json, 'x-amzn-RequestId': 'a' }, missing],
    ['PATCH /inventory/1', 413, { 'Content-Type': 'text/plain' }, 'too long'],
    ['OPTIONS /inventory', 204, {}, ''],
  ] as const)('has no problem: %s %i', (request, status, headers, body) => {
    expect(find(request, status, headers, body)).toEqual([]);
  });
});

describe('an answer that is not', () => {
  it.each([
    ['GET /inventory', 418, json, list, 'The document has no status 418 of listInventory.'],
    ['GET /inventory', 200, { ...json, Age: '1' }, list, 'The document has no header age here.'],
    ['GET /inventory', 200, { ...json, ETag: 'a' }, list, /^ETag must match pattern/],
    ['GET /pets/1', 404, json, missing, 'The header Deprecation is missing.'],
    [
      'GET /nothing',
      404,
      { 'Content-Type': 'application/json' },
      missing,
      /X-Request-Id is missing/,
    ],
    ['GET /inventory', 304, { ...id, ETag: '"a"' }, list, 'The body is not empty.'],
    ['GET /inventory', 200, id, list, 'The Content-Type is "".'],
    ['PATCH /inventory/1', 413, json, missing, 'The document has no header x-request-id here.'],
    ['GET /inventory', 200, json, list.slice(1), /^The body is not JSON: /],
    [
      'GET /inventory',
      200,
      json,
      list.replace('9007199254740993', '1.5'),
      'petId is 1.5, which is no int64.',
    ],
    ['GET /inventory', 200, json, list.replace('sold', 'lost'), /^The body\/0\/status must be/],
    ['GET /nothing', 404, json, '{"code":"not_found"}', /^The body must have required property/],
  ] as const)('has one that is told: %s %i', (request, status, headers, body, problem) => {
    const [first] = find(request, status, headers, body);
    expect(first).toMatch(problem);
  });

  it('is seen by its head alone', () => {
    const head = { status: 200, headers: new Headers() };
    expect(findAnswerProblems('GET', '/inventory', head)).toEqual([
      'The header X-Request-Id is missing.',
    ]);
  });
});
