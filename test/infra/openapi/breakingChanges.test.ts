import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findBreakingChanges } from '../../../infra/openapi/breakingChanges.ts';
import type { OpenApiDocument } from '../../../infra/openapi/openApi.ts';

/** Where something stands in a document, and what becomes of it: another value, members more, or nothing. */
type Change = readonly [place: string, value?: unknown];

const released = read('openapi.released.json');
const current = read('openapi.json');
const now = new Date('2026-12-01T00:00:00Z');

const list = 'paths /inventory get';
const pet = 'paths /pets/{petId} get';
const orders = 'paths /store/orders get';
const update = 'paths /inventory/{petId} patch';
const limit = `${list} parameters limit`;
const json = 'content application/json';
const schemas = 'components schemas';
/** The one operation that changes another way may change in its request's body. */
const stable: Change = [`${update} x-stability`, 'stable'];
const optional: Change = [`${update} requestBody required`, false];
const statuses = '["available","pending","sold"]';

const breaking: [told: string, change: Change, ...beforehand: Change[]][] = [
  ['the server https://api.petstore.example/v1 is gone', ['servers 0']],
  ['the security is another', ['security', [{ apiKey: [] }, { other: [] }]]],
  ['GET /inventory: it is gone', ['paths /inventory']],
  ['GET /pets/{petId}: it is gone', [pet]],
  [
    'GET /inventory: the operationId was listInventory and is listStock',
    [`${list} operationId`, 'listStock'],
  ],
  ['GET /inventory: it was stable and is experimental', [`${list} x-stability`, 'experimental']],
  [
    'GET /pets/{petId}: the sunset was 2027-12-01T00:00:00.000Z and is 2027-06-01T00:00:00.000Z',
    [`${pet} x-sunset`, '2027-06-01T00:00:00.000Z'],
  ],
  ['GET /inventory: the query parameter status is gone', [`${list} parameters status`]],
  [
    'GET /inventory: the query parameter petId is written otherwise',
    [`${list} parameters petId explode`],
  ],
  ['GET /inventory: the query parameter limit is required now', [`${limit} required`, true]],
  [
    'GET /inventory: the query parameter limit: maximum was 1000 and is 500',
    [`${limit} schema maximum`, 500],
  ],
  [
    'GET /inventory: the query parameter limit: minimum was 1 and is 2',
    [`${limit} schema minimum`, 2],
  ],
  [
    'GET /inventory: the query parameter limit: type was "integer" and is "string"',
    [`${limit} schema type`, 'string'],
  ],
  [
    `GET /inventory: the query parameter status: the values were ${statuses} and are ["available","sold"]`,
    [`${list} parameters status schema enum`, ['available', 'sold']],
  ],
  [
    'GET /inventory: the query parameter petId: maxItems was 100 and is 50',
    [`${list} parameters petId schema maxItems`, 50],
  ],
  [
    'GET /store/orders: the header parameter X-Request-Id: pattern was "^[A-Za-z0-9._-]{1,64}$" and is "^[a-z]+$"',
    [`${orders} parameters X-Request-Id schema pattern`, '^[a-z]+$'],
  ],
  [
    'PATCH /inventory/{petId}: quantity: maximum was 2147483647 and is 1000',
    [`${schemas} InventoryUpdate properties quantity maximum`, 1000],
    stable,
  ],
  [
    'PATCH /inventory/{petId}: reason is required now',
    [`${schemas} InventoryUpdate required`, ['quantity', 'reason']],
    stable,
  ],
  [
    'PATCH /inventory/{petId}: a body is required now',
    [`${update} requestBody required`, true],
    stable,
    optional,
  ],
  [
    'PATCH /inventory/{petId}: application/json is gone',
    [`${update} requestBody content`, { 'text/plain': {} }],
    stable,
  ],
  ['GET /inventory: 304: it is gone', [`${list} responses 304`]],
  ['GET /inventory: 200: application/json is gone', [`${list} responses 200 ${json}`]],
  ['GET /inventory: 200: the header ETag is gone', [`${list} responses 200 headers ETag`]],
  [
    'GET /inventory: 200: the header X-Request-Id is not always there any more',
    ['components headers X-Request-Id required', false],
  ],
  [
    'GET /store/orders: 200: each: placedAt is not always there any more',
    [`${schemas} Order required`, ['id', 'petId', 'quantity', 'status']],
  ],
  ['GET /store/orders: 200: each: shipDate is gone', [`${schemas} Order properties shipDate`]],
  [
    `GET /inventory: 200: each: status: the values were ${statuses} and are ["available","pending","sold","lost"]`,
    [`${schemas} PetStatus enum`, ['available', 'pending', 'sold', 'lost']],
  ],
  [
    `GET /inventory: 200: each: status: the values were ${statuses} and are free`,
    [`${schemas} PetStatus enum`],
  ],
  [
    'GET /inventory: 200: each: petId: format was "int64" and is free',
    [`${schemas} ListedInventoryItem properties petId format`],
  ],
  [
    'GET /inventory: 200: each: quantity: maximum was 2147483647 and is free',
    [`${schemas} ListedInventoryItem properties quantity maximum`],
  ],
  [
    'GET /pets/{petId}: 200: tags: each: name: type was "string" and is "integer"',
    [`${schemas} Pet properties tags items properties name type`, 'integer'],
  ],
  [
    'GET /inventory: 400: message is not always there any more',
    [`${schemas} Error required`, ['code', 'status']],
    [`${list} responses 400 ${json} schema allOf 1 required`, ['code']],
  ],
  [
    'GET /inventory: 400: code: the values were ["invalid_request"] and are ["bad_request"]',
    [`${list} responses 400 ${json} schema allOf 1 properties code const`, 'bad_request'],
  ],
];

const harmless: [name: string, ...changes: Change[]][] = [
  ['nothing'],
  ['an experimental operation that is gone', [update]],
  ['an experimental operation that is stable', stable],
  ['a new operation', ['paths /new', { get: {} }]],
  ['a new server', ['servers end', { url: 'https://other.example/v1' }]],
  ['a deprecation', [`${orders} x-stability`, 'deprecated']],
  ['a later sunset', [`${pet} x-sunset`, '2028-12-01T00:00:00.000Z']],
  [
    'a new optional parameter',
    [`${pet} parameters end`, { name: 'sort', in: 'query', required: false, schema: {} }],
  ],
  ['more values of a parameter', [`${limit} schema maximum`, 5000], [`${limit} schema minimum`, 0]],
  ['a new member', [`${schemas} Pet properties age`, { type: 'integer' }]],
  ['a member that is always there now', [`${schemas} Pet required end`, 'photoUrls']],
  ['fewer values of a member', [`${schemas} Order properties status enum 0`]],
  ['an error that no longer comes', [`${pet} responses 400`]],
  ['another description', [`${list} description`, 'Other words.']],
  ['anything in a new major version', ['info version', '2.0.0'], ['paths /inventory']],
];

it('the document breaks no client of the last release', () => {
  expect(findBreakingChanges({ before: released, after: current }, new Date())).toEqual([]);
});

it.each(breaking)('%s: refused', (told, change, ...beforehand) => {
  const before = edit(current, beforehand);
  expect(findBreakingChanges({ before, after: edit(before, [change]) }, now)).toContain(told);
});

it.each(harmless)('%s: let through', (_, ...changes) => {
  expect(findBreakingChanges({ before: current, after: edit(current, changes) }, now)).toEqual([]);
});

it('a deprecated operation may go once its sunset has passed', () => {
  const after = edit(current, [['paths /pets/{petId}']]);
  const at = (time: string) => findBreakingChanges({ before: current, after }, new Date(time));
  expect(at('2027-12-01T00:00:00Z')).toEqual(['GET /pets/{petId}: it is gone']);
  expect(at('2027-12-01T00:00:01Z')).toEqual([]);
});

function read(name: string): OpenApiDocument {
  const file = new URL(`../../../shared/contract/${name}`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

function edit(document: OpenApiDocument, changes: readonly Change[]): OpenApiDocument {
  const draft = structuredClone(document);
  for (const [place, value] of changes) {
    // biome-ignore lint/suspicious/noExplicitAny: any place of it may become anything
    let at: any = draft;
    const names = place.split(' ');
    const last = names.pop() ?? '';
    for (const name of names) at = at[toKey(at, name)];
    if (value !== undefined) at[toKey(at, last)] = value;
    else if (Array.isArray(at)) at.splice(Number(toKey(at, last)), 1);
    else delete at[last];
  }
  return draft;
}

/** Of a parameter, its place in the list; `end` is the place behind it. */
function toKey(at: unknown, name: string): string | number {
  if (!Array.isArray(at)) return name;
  const place = name === 'end' ? at.length : at.findIndex((one) => one?.name === name);
  return place < 0 ? name : place;
}
