import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findBreakingChanges } from '../../../infra/openapi/breakingChanges.ts';
import type { OpenApiDocument } from '../../../infra/openapi/openApi.ts';

/** A document as a test changes it. */
// biome-ignore lint/suspicious/noExplicitAny: any place of it may become anything
type Draft = any;
type Change = (draft: Draft) => void;

const folder = '../../../shared/contract';
const released = read('openapi.released.json');
const current = read('openapi.json');
const now = new Date('2026-12-01T00:00:00Z');

const list = (draft: Draft) => draft.paths['/inventory'].get;
const pet = (draft: Draft) => draft.paths['/pets/{petId}'].get;
const orders = (draft: Draft) => draft.paths['/store/orders'].get;
const update = (draft: Draft) => draft.paths['/inventory/{petId}'].patch;
const parameter = (operation: Draft, name: string) =>
  operation.parameters.find((one: Draft) => one.name === name);
const schemas = (draft: Draft) => draft.components.schemas;
/** The one operation that changes another way may change in its request's body. */
const withStableUpdate: Change = (draft) => {
  update(draft)['x-stability'] = 'stable';
};

const breaking: [told: string, change: Change, beforehand?: Change][] = [
  ['the server https://api.petstore.example/v1 is gone', (draft) => draft.servers.shift()],
  ['the security is another', (draft) => draft.security.push({ other: [] })],
  ['GET /inventory: it is gone', (draft) => delete draft.paths['/inventory']],
  ['GET /pets/{petId}: it is gone', (draft) => delete draft.paths['/pets/{petId}'].get],
  [
    'GET /inventory: the operationId was listInventory and is listStock',
    (draft) => Object.assign(list(draft), { operationId: 'listStock' }),
  ],
  [
    'GET /inventory: it was stable and is experimental',
    (draft) => Object.assign(list(draft), { 'x-stability': 'experimental' }),
  ],
  [
    'GET /pets/{petId}: the sunset was 2027-12-01T00:00:00.000Z and is 2027-06-01T00:00:00.000Z',
    (draft) => Object.assign(pet(draft), { 'x-sunset': '2027-06-01T00:00:00.000Z' }),
  ],
  [
    'GET /inventory: the query parameter status is gone',
    (draft) => list(draft).parameters.splice(2, 1),
  ],
  [
    'GET /inventory: the query parameter petId is written otherwise',
    (draft) => delete parameter(list(draft), 'petId').explode,
  ],
  [
    'GET /inventory: the query parameter limit is required now',
    (draft) => Object.assign(parameter(list(draft), 'limit'), { required: true }),
  ],
  [
    'GET /inventory: the query parameter limit: maximum was 1000 and is 500',
    (draft) => Object.assign(parameter(list(draft), 'limit').schema, { maximum: 500 }),
  ],
  [
    'GET /inventory: the query parameter limit: minimum was 1 and is 2',
    (draft) => Object.assign(parameter(list(draft), 'limit').schema, { minimum: 2 }),
  ],
  [
    'GET /inventory: the query parameter limit: type was "integer" and is "string"',
    (draft) => Object.assign(parameter(list(draft), 'limit').schema, { type: 'string' }),
  ],
  [
    'GET /inventory: the query parameter status: the values were ["available","pending","sold"] and are ["available","sold"]',
    (draft) =>
      Object.assign(parameter(list(draft), 'status').schema, { enum: ['available', 'sold'] }),
  ],
  [
    'GET /inventory: the query parameter petId: maxItems was 100 and is 50',
    (draft) => Object.assign(parameter(list(draft), 'petId').schema, { maxItems: 50 }),
  ],
  [
    'GET /store/orders: the header parameter X-Request-Id: pattern was "^[A-Za-z0-9._-]{1,64}$" and is "^[a-z]+$"',
    (draft) =>
      Object.assign(parameter(orders(draft), 'X-Request-Id').schema, { pattern: '^[a-z]+$' }),
  ],
  [
    'PATCH /inventory/{petId}: quantity: maximum was 2147483647 and is 1000',
    (draft) => Object.assign(schemas(draft).InventoryUpdate.properties.quantity, { maximum: 1000 }),
    withStableUpdate,
  ],
  [
    'PATCH /inventory/{petId}: reason is required now',
    (draft) => schemas(draft).InventoryUpdate.required.push('reason'),
    withStableUpdate,
  ],
  [
    'PATCH /inventory/{petId}: a body is required now',
    (draft) => Object.assign(update(draft).requestBody, { required: true }),
    (draft) => {
      withStableUpdate(draft);
      update(draft).requestBody.required = false;
    },
  ],
  [
    'PATCH /inventory/{petId}: application/json is gone',
    (draft) => Object.assign(update(draft).requestBody, { content: { 'text/plain': {} } }),
    withStableUpdate,
  ],
  ['GET /inventory: 304: it is gone', (draft) => delete list(draft).responses[304]],
  [
    'GET /inventory: 200: application/json is gone',
    (draft) => delete list(draft).responses[200].content['application/json'],
  ],
  [
    'GET /inventory: 200: the header ETag is gone',
    (draft) => delete list(draft).responses[200].headers.ETag,
  ],
  [
    'GET /inventory: 200: the header X-Request-Id is not always there any more',
    (draft) => Object.assign(draft.components.headers['X-Request-Id'], { required: false }),
  ],
  [
    'GET /store/orders: 200: each: placedAt is not always there any more',
    (draft) => schemas(draft).Order.required.pop(),
  ],
  [
    'GET /store/orders: 200: each: shipDate is gone',
    (draft) => delete schemas(draft).Order.properties.shipDate,
  ],
  [
    'GET /inventory: 200: each: status: the values were ["available","pending","sold"] and are ["available","pending","sold","lost"]',
    (draft) => schemas(draft).PetStatus.enum.push('lost'),
  ],
  [
    'GET /inventory: 200: each: status: the values were ["available","pending","sold"] and are free',
    (draft) => delete schemas(draft).PetStatus.enum,
  ],
  [
    'GET /inventory: 200: each: petId: format was "int64" and is free',
    (draft) => delete schemas(draft).ListedInventoryItem.properties.petId.format,
  ],
  [
    'GET /inventory: 200: each: quantity: maximum was 2147483647 and is free',
    (draft) => delete schemas(draft).ListedInventoryItem.properties.quantity.maximum,
  ],
  [
    'GET /pets/{petId}: 200: tags: each: name: type was "string" and is "integer"',
    (draft) =>
      Object.assign(schemas(draft).Pet.properties.tags.items.properties.name, { type: 'integer' }),
  ],
  [
    'GET /inventory: 400: code: the values were ["invalid_request"] and are ["bad_request"]',
    (draft) => {
      const { schema } = list(draft).responses[400].content['application/json'];
      schema.allOf[1].properties.code.const = 'bad_request';
    },
  ],
];

const harmless: [name: string, change: Change][] = [
  ['nothing', () => {}],
  [
    'an experimental operation that is gone',
    (draft) => delete draft.paths['/inventory/{petId}'].patch,
  ],
  ['an experimental operation that is stable', withStableUpdate],
  ['a new operation', (draft) => Object.assign(draft.paths, { '/new': { get: pet(draft) } })],
  ['a new server', (draft) => draft.servers.push({ url: 'https://other.example/v1' })],
  ['a deprecation', (draft) => Object.assign(orders(draft), { 'x-stability': 'deprecated' })],
  [
    'a later sunset',
    (draft) => Object.assign(pet(draft), { 'x-sunset': '2028-12-01T00:00:00.000Z' }),
  ],
  [
    'a new optional parameter',
    (draft) =>
      list(draft).parameters.push({ name: 'sort', in: 'query', required: false, schema: {} }),
  ],
  [
    'more values of a parameter',
    (draft) => Object.assign(parameter(list(draft), 'limit').schema, { maximum: 5000, minimum: 0 }),
  ],
  [
    'a new member',
    (draft) => Object.assign(schemas(draft).Pet.properties, { age: { type: 'integer' } }),
  ],
  ['a member that is always there now', (draft) => schemas(draft).Order.required.push('complete')],
  ['fewer values of a member', (draft) => schemas(draft).Order.properties.status.enum.pop()],
  ['an error that no longer comes', (draft) => delete pet(draft).responses[400]],
  ['another description', (draft) => Object.assign(list(draft), { description: 'Other words.' })],
  [
    'anything in a new major version',
    (draft) => {
      draft.info.version = '2.0.0';
      delete draft.paths['/inventory'];
    },
  ],
];

it('the document breaks no client of the last release', () => {
  expect(findBreakingChanges({ before: released, after: current }, new Date())).toEqual([]);
});

it.each(breaking)('%s: refused', (told, change, beforehand = () => {}) => {
  const before = edit(current, beforehand);
  expect(findBreakingChanges({ before, after: edit(before, change) }, now)).toContain(told);
});

it.each(harmless)('%s: let through', (_, change) => {
  expect(findBreakingChanges({ before: current, after: edit(current, change) }, now)).toEqual([]);
});

it('a deprecated operation may go once its sunset has passed', () => {
  const after = edit(current, (draft) => delete draft.paths['/pets/{petId}']);
  const at = (time: string) => findBreakingChanges({ before: current, after }, new Date(time));
  expect(at('2027-12-01T00:00:00Z')).toEqual(['GET /pets/{petId}: it is gone']);
  expect(at('2027-12-01T00:00:01Z')).toEqual([]);
});

function read(name: string): OpenApiDocument {
  return JSON.parse(readFileSync(new URL(`${folder}/${name}`, import.meta.url), 'utf8'));
}

function edit(document: OpenApiDocument, change: Change): OpenApiDocument {
  const draft = structuredClone(document);
  change(draft);
  return draft;
}
