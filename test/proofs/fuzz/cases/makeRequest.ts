import {
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import {
  type ExampleRequest,
  exampleRequests,
} from '../../../conformance/document/exampleRequests.ts';
import { makeBody } from './bodies.ts';
import { type FuzzFacts, type FuzzRequest, secretMark } from './fuzzRequest.ts';
import { makeCredentials, mutateHeaders } from './headers.ts';
import type { Random } from './random.ts';
import { mutateText, numberTexts, visibleTexts } from './texts.ts';

/** Every example of the interface's document, with its operation. */
const examples = operationIds.flatMap((id) =>
  Object.values(exampleRequests[id]).map((example) => [id, example] as const),
);

/** A request that begins as an example of the document or as a valid one, and is changed in up to four places. */
export function makeRequest(random: Random, facts: FuzzFacts): FuzzRequest {
  const request = random.chance(0.3)
    ? fromExample(random, facts, ...random.pick(examples))
    : makeValid(random, facts);
  const changes = random.pick([0, 1, 1, 1, 2, 2, 3, 4]);
  for (let change = 0; change < changes; change += 1) mutate(random, request, facts);
  return request;
}

function makeValid(random: Random, facts: FuzzFacts): FuzzRequest {
  // A list of all entries costs the most by far, and tells the least.
  const operationId = random.pick([...operationIds, 'updateInventory', 'updateInventory'] as const);
  const { method, path } = operations[operationId];
  const petId = path.includes('{petId}') ? random.pick(facts.petIds) : undefined;
  const isUpdate = operationId === 'updateInventory';
  return {
    operationId,
    method,
    path: path.replace('{petId}', petId ?? ''),
    petId,
    query: random.pick(queries[operationId] ?? ['']),
    headers: [
      ['Host', '127.0.0.1'],
      ...makeCredentials(random, facts).map((value): [string, string] => ['Authorization', value]),
      ...(isUpdate ? [['Content-Type', 'application/json'] as [string, string]] : []),
    ],
    body: isUpdate ? Buffer.from(`{"quantity":${random.below(2 ** 31)}}`) : null,
  };
}

const queries: Partial<Record<OperationId, readonly string[]>> = {
  listInventory: [
    'petId=1,2',
    'petId=3&include=etag',
    'limit=2',
    'limit=1&status=sold',
    'limit=3',
    '',
  ],
  listOrders: ['limit=2', 'limit=1000', ''],
};

function fromExample(
  random: Random,
  { keys }: FuzzFacts,
  operationId: OperationId,
  { path: target, headers = {}, body, key }: ExampleRequest,
): FuzzRequest {
  const [path = '', query = ''] = target.split('?');
  const petId = operations[operationId].path.includes('{petId}')
    ? path.split('/').at(-1)
    : undefined;
  const credentials = {
    none: [],
    invalid: [`Bearer ${secretMark}`],
    read: [`Bearer ${random.pick(keys.read)}`],
    write: [`Bearer ${random.pick(keys.write)}`],
  }[key ?? 'write'];
  return {
    operationId,
    method: operations[operationId].method,
    path,
    petId,
    query,
    headers: [
      ['Host', '127.0.0.1'],
      ...credentials.map((value): [string, string] => ['Authorization', value]),
      ...Object.entries(headers),
    ],
    body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
  };
}

function mutate(random: Random, request: FuzzRequest, facts: FuzzFacts): void {
  switch (random.below(6)) {
    case 0:
      mutatePetId(random, request);
      break;
    case 1:
      request.query = mutateQuery(random, request.query);
      break;
    case 2:
      if (random.chance(0.3)) request.method = random.pick(methods);
      else request.path = mutateText(random, request.path, visibleTexts);
      break;
    case 3:
      request.body = makeBody(random);
      break;
    default:
      mutateHeaders(random, request, facts);
  }
}

const methods = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PURGE',
  'get',
  'FOO',
];

function mutatePetId(random: Random, request: FuzzRequest): void {
  const { petId } = request;
  if (petId === undefined) return;
  request.petId = random.chance(0.5)
    ? random.pick(numberTexts)
    : mutateText(random, petId, [...numberTexts, ...visibleTexts]);
  request.path = `${request.path.slice(0, request.path.lastIndexOf('/'))}/${request.petId}`;
}

const queryNames = [
  'limit',
  'cursor',
  'status',
  'petId',
  'include',
  'unknown',
  'LIMIT',
  '__proto__',
  '',
];
const queryValues = [
  'available',
  'pending',
  'sold',
  'SOLD',
  'etag',
  '1,2',
  '1,1',
  '1,',
  ',',
  '1,2,3'.repeat(60),
];

function mutateQuery(random: Random, query: string): string {
  const texts = [...queryValues, ...numberTexts, ...visibleTexts];
  switch (random.below(4)) {
    case 0:
      return mutateText(random, query, visibleTexts);
    case 1:
      return `${query}&${query}`;
    default:
      return `${query}&${random.pick(queryNames)}=${random.pick(texts)}`;
  }
}
