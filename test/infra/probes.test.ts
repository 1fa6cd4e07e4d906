import { expect, it, test } from 'vitest';
import { buildProbes, isRight, type KnownIds, type Probe } from '../../infra/gateway/probes.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { updateInventory } from '../../shared/contract/operations/updateInventory.ts';
import { operationIds, operations } from '../../shared/contract/operations.ts';
import { pageQuery } from '../../shared/contract/pageQuery.ts';
import { UNUSED_ID } from '../../shared/contract/values.ts';

const knownIds = { '/inventory': '7', '/pets': '8', '/store/orders': '9' };

/** The probes of an operation that the contract lacks, one a line, with a key of its own permission. */
function probe(row: string, more: Partial<Operation> = {}, ids: KnownIds = knownIds): string[] {
  const [method, path] = row.split(' ') as [Operation['method'], Operation['path']];
  const permission = method === 'GET' ? 'read' : 'write';
  const operation: Operation = {
    operationId: 'new',
    method,
    path,
    summary: '',
    lifecycle: { kind: 'stable' },
    permission,
    streamed: false,
    errors: ['not_found'],
    ...more,
  };
  return buildProbes(operation, permission, ids).map(toText);
}

const toText = ({ method, path, headers, body, expected }: Probe) =>
  [method, path, ...Object.keys(headers), body, JSON.stringify(expected)].filter(Boolean).join(' ');

const withBody = { requestBody: updateInventory.requestBody, harmlessBody: '{}' };
const { limit } = pageQuery;

it.each<[row: string, more: Partial<Operation>, expected: string[]]>([
  ['GET /pets', {}, ['GET /pets {"minItems":1}']],
  ['GET /pets', { query: { limit } }, ['GET /pets?limit=1 {"minItems":1}']],
  [
    'GET /pets',
    { query: { limit }, streamed: true },
    ['GET /pets?limit=1 {"minItems":1}', 'GET /pets {"minItems":1}'],
  ],
  ['GET /store/orders/{orderId}', {}, ['GET /store/orders/9 {"id":"9"}']],
  // Another list, which may be empty.
  ['GET /pets/lost', {}, ['GET /pets/lost {"minItems":0}']],
  // A pet may have no photos.
  ['GET /pets/{petId}/photos', {}, [`GET /pets/${UNUSED_ID}/photos "not_found"`]],
  ['DELETE /pets/{petId}', {}, [`DELETE /pets/${UNUSED_ID} "not_found"`]],
  ['PUT /pets/{petId}', withBody, [`PUT /pets/${UNUSED_ID} Content-Type {} "not_found"`]],
  [
    'PATCH /pets/{petId}',
    { ...withBody, requestHeaders: ['If-Match'] },
    ['PATCH /pets/8 Content-Type If-None-Match {} "precondition_failed"'],
  ],
  [
    'POST /pets/moves',
    { ...withBody, requestHeaders: ['Idempotency-Key'] },
    ['POST /pets/moves Content-Type Idempotency-Key {} "not_found"'],
  ],
  [
    'DELETE /pets/{petId}',
    { requestHeaders: ['If-Match'] },
    [`DELETE /pets/${UNUSED_ID} If-None-Match "not_found"`],
  ],
  // These could change something, so they get a key that only reads.
  ['POST /pets', { ...withBody, errors: [] }, ['POST /pets Content-Type {} "forbidden"']],
  ['POST /pets/recount', {}, ['POST /pets/recount "forbidden"']],
  [
    'PUT /pets/{petId}',
    { requestBody: updateInventory.requestBody },
    [`PUT /pets/${UNUSED_ID} Content-Type "forbidden"`],
  ],
])('derives the probes of a new operation: %s, %o', (row, more, expected) => {
  expect(probe(row, more)).toEqual(expected);
});

test.each([
  [404, 'not_found', true],
  [500, 'not_found', false],
  [404, 'unauthorized', false],
])('a response to a probe has both the status and the code of its error: %i %s', (...row) => {
  const [status, code, expected] = row;
  const body = JSON.stringify({ code, message: 'There is none.', status });
  expect(isRight({ expected: 'not_found' }, status, body)).toBe(expected);
});

it('asks for an unused id where no item is known, and for any list', () => {
  expect(probe('GET /pets/{petId}', {}, {})).toEqual([`GET /pets/${UNUSED_ID} "not_found"`]);
  expect(probe('GET /pets', {}, {})).toEqual(['GET /pets {"minItems":0}']);
});

test.each(operationIds)('%s gets no known id and 403 if it writes, with a read key', (id) => {
  const refusal = operations[id].permission === 'write' && { expected: 'forbidden' as const };
  const own = buildProbes(operations[id], 'write', refusal ? {} : knownIds);
  const read = buildProbes(operations[id], 'read', knownIds);
  expect(read.map(toText)).toEqual(own.map((one) => toText({ ...one, ...refusal })));
});
