import { expect, it } from 'vitest';
import { findResponseProblems } from '../../../infra/openapi/responseProblems.ts';

// The conformance suite finds no problem in the service's responses; each of these has one.

const id = { 'X-Request-Id': '8f2c1e0a-6a6b' };
const type = { 'Content-Type': 'application/json' };
const json = { ...id, ...type };
const list = '[{"petId":9007199254740993,"quantity":1,"status":"sold"}]';
const rounded = list.replace('9007199254740993', '1.5');
const missing = '{"code":"not_found","message":"There is none.","status":404}';

it.each<[string, Record<string, string>, string, string | RegExp]>([
  ['418 GET /inventory', json, list, 'The document has no status 418 of listInventory.'],
  ['200 GET /inventory', { ...json, Age: '1' }, list, 'The document has no header age here.'],
  ['200 GET /inventory', { ...json, ETag: 'a' }, list, /^The header ETag is "a"; it must match/],
  ['404 GET /pets/1', json, missing, 'The header Deprecation is missing.'],
  ['404 GET /nothing', type, missing, 'The header X-Request-Id is missing.'],
  ['404 GET /nothing', json, '{"code":"not_found"}', /^The body must have required property/],
  ['304 GET /inventory', { ...id, ETag: '"a"' }, list, 'The body is not empty.'],
  ['200 GET /inventory', id, list, 'The Content-Type is "".'],
  ['413 PATCH /inventory/1', { 'Content-Type': 'a/b' }, '', 'The Content-Type is "a/b".'],
  ['200 GET /inventory', json, list.slice(1), /^The body is not JSON: /],
  ['200 GET /inventory', { ...json, 'Content-Encoding': 'gzip' }, list, /^The body is not JSON: /],
  ['200 GET /inventory', json, rounded, 'petId is 1.5, which is not an int64.'],
  ['200 GET /inventory', json, list.replace('sold', 'lost'), /^The body\/0\/status must be/],
])('reports the problem in a response: %s', (response, headers, body, problem) => {
  const [status = '', method = '', path = ''] = response.split(' ');
  const head = { status: Number(status), headers: new Headers(headers) };
  const [found] = findResponseProblems(method, path, { ...head, bytes: Buffer.from(body) });
  expect(found).toMatch(problem);
});

it('checks a response without its body by the head, and a preflight’s not at all', () => {
  const head = { status: 200, headers: new Headers() };
  const missing = ['The header X-Request-Id is missing.'];
  expect(findResponseProblems('GET', '/inventory', head)).toEqual(missing);
  expect(findResponseProblems('OPTIONS', '/inventory', head)).toEqual([]);
  const proxied = { status: 200, headers: new Headers({ ...id, Age: '1', ETag: 'a' }) };
  expect(findResponseProblems('GET', '/inventory', proxied, { isProxied: true })).toEqual([
    expect.stringContaining('ETag'),
  ]);
});
