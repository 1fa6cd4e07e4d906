import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import {
  type OpenApiDocument,
  readCommittedDocument,
} from '../../../../infra/docs/openapi/openApiDocument.ts';
import { findResponseProblems } from '../../../../infra/docs/openapi/responseProblems.ts';
import { cacheControl } from '../../../../shared/contract/headers.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../../shared/contract/operations.ts';
import type { ParameterSchema } from '../../../../shared/contract/parameters.ts';
import { fillPath } from '../../../../shared/contract/paths.ts';

/** The levels of stability, lowest first; a deprecation lowers none. */
const levels = ['experimental', 'beta', 'stable', 'deprecated'];

/** Texts for people, parts that `findBreaks` itself compares, and the coding that HTTP undoes before a client reads. */
const skipped =
  /^(summary|description|tags|examples?|deprecated|x-stability|x-sunset|Content-Encoding)$/;

/**
 * The places where a client of the released document breaks: something is gone, has another value, or is newly
 * required. `infra/docs/guides/deprecations.md` promises no such changes.
 */
function findBreaks(before: OpenApiDocument, after: OpenApiDocument, now = new Date()): string[] {
  const addresses = after.servers.map(({ url }) => url);
  const found = before.servers
    .filter(({ url }) => !addresses.includes(url))
    .map(({ url }) => `${url} is gone`);
  if (JSON.stringify(before.security) !== JSON.stringify(after.security)) found.push('security');
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const place = `${method} ${path}`;
      const { 'x-stability': level, 'x-sunset': sunset = '' } = operation;
      if (levels.indexOf(level) < levels.indexOf('stable')) continue;
      const next = after.paths[path]?.[method];
      if (!next) {
        if (sunset === '' || new Date(sunset) >= now) found.push(`${place} is gone`);
        continue;
      }
      if (levels.indexOf(next['x-stability']) < levels.indexOf(level)) found.push(`${place} level`);
      if ((next['x-sunset'] ?? '') < sunset) found.push(`${place} sunset`);
      const facts = new Map(listFacts(before, operation, place));
      const newFacts = new Map(listFacts(after, next, place));
      for (const at of new Set([...facts.keys(), ...newFacts.keys()])) {
        if (facts.get(at) !== newFacts.get(at) && !isHarmless(at, facts, newFacts)) found.push(at);
      }
    }
  }
  return found;
}

/** All facts for programs in a part of a document, with their places; names in lists are places too. */
function listFacts(document: OpenApiDocument, part: object, place: string): Fact[] {
  return Object.entries(part).flatMap(([name, value]): Fact[] => {
    const isMember = place.endsWith(' properties');
    if ((!isMember && skipped.test(name)) || (name === 'required' && value === false)) return [];
    if (typeof value !== 'object')
      return [[`${place} ${Array.isArray(part) ? value : name}`, value]];
    if (!('$ref' in value)) return listFacts(document, value, `${place} ${value.name ?? name}`);
    const names = String(value.$ref).split('/').slice(1);
    const target = names.reduce((at, one) => Object(at)[one], Object(document));
    return listFacts(document, target, `${place} ${name}`);
  });
}

/** Whether a change at a place breaks no client: it gets more, or may send more. */
function isHarmless(place: string, facts: Facts, newFacts: Facts): boolean {
  const [value, next] = [facts.get(place), newFacts.get(place)];
  const [owner = '', name = ''] = place.split(/ (?=\S+$)/);
  const isKnown = (one: string) => facts.keys().some((fact) => fact.startsWith(`${one} `));
  const isNewValue = value === undefined && owner.endsWith(' enum') && isKnown(owner);
  if (place.includes(' responses ')) {
    return value === undefined && !(isNewValue && place.includes(' content '));
  }
  if (value !== undefined) return name === 'maximum' && Number(next) > Number(value);
  const isRequired = / required( \S+)?$/.test(place);
  return isNewValue || (!isRequired && !isKnown(owner.replace(/ enum$/, '')));
}

type Fact = [place: string, value: string | number];
type Facts = ReadonlyMap<string, string | number>;

const released: OpenApiDocument = JSON.parse(
  readFileSync(
    new URL('../../../../shared/contract/openapi.released.json', import.meta.url),
    'utf8',
  ),
);
const current = readCommittedDocument();
const now = new Date('2026-12-01T00:00:00Z');

// biome-ignore lint/suspicious/noExplicitAny: any place of a document may become anything
type Edit = (document: any) => unknown;

const list = '/inventory';
const orders = '/store/orders';
/** A parameter of `GET /inventory`, by name. */
const parameter = (document: OpenApiDocument, name: string) =>
  document.paths[list]?.get?.parameters.find((one) => one.name === name) as unknown as {
    readonly schema: { readonly enum: unknown[] };
  };
/** Makes the one operation with a request body stable. */
const isStable: Edit = ({ paths }) => {
  paths['/inventory/{petId}'].patch['x-stability'] = 'stable';
};

const sunset = '2027-12-01T00:00:00.000Z';
const isDeprecated: Edit = ({ paths }) =>
  Object.assign(paths[orders].get, { 'x-stability': 'deprecated', 'x-sunset': sunset });

const breaking: [name: string, change: Edit, beforehand?: Edit][] = [
  ['a server is gone', (d) => d.servers.shift()],
  ['an operation is gone', (d) => delete d.paths[orders]],
  ['a level is lower', (d) => Object.assign(d.paths[list].get, { 'x-stability': 'beta' })],
  [
    'a sunset is earlier',
    (d) => Object.assign(d.paths[orders].get, { 'x-sunset': '2027-06-01' }),
    isDeprecated,
  ],
  ['a parameter is required', (d) => Object.assign(parameter(d, 'limit'), { required: true })],
  ['a maximum is lower', (d) => Object.assign(parameter(d, 'limit').schema, { maximum: 500 })],
  ['only some values are left', (d) => Object.assign(parameter(d, 'limit').schema, { enum: [1] })],
  ['a value is no longer valid', (d) => parameter(d, 'status').schema.enum.pop()],
  ['a member is needed', (d) => d.components.schemas.InventoryUpdate.required.push('a'), isStable],
  ['a status is gone', (d) => delete d.paths[list].get.responses[304]],
  ['a member may be missing', (d) => d.components.schemas.Order.required.pop()],
  ['a member has a new value', (d) => d.components.schemas.PetStatus.enum.push('lost')],
];

const sort = { name: 'sort', in: 'query', required: false, schema: { enum: [1] } };
const age = { type: 'integer', enum: [1] };
const harmless: [name: string, change: Edit][] = [
  ['an experimental operation is gone', (d) => delete d.paths['/inventory/{petId}'].patch],
  ['there is a new operation', (d) => Object.assign(d.paths, { '/new': { get: {} } })],
  ['there is a new optional parameter', (d) => d.paths[orders].get.parameters.push(sort)],
  ['a limit is raised', (d) => Object.assign(parameter(d, 'limit').schema, { maximum: 5_000 })],
  ['a parameter has a new value', (d) => parameter(d, 'status').schema.enum.push('lost')],
  ['there is a new member', (d) => Object.assign(d.components.schemas.Order.properties, { age })],
  ['a member is always present', (d) => d.components.schemas.Order.required.push('shipDate')],
];

it('the document breaks no client of the last release', () => {
  expect(findBreaks(released, current)).toEqual([]);
});

it.each(breaking)('a client breaks if %s', (_, change, beforehand = () => {}) => {
  const before = edit(current, beforehand);
  expect(findBreaks(before, edit(before, change), now)).not.toEqual([]);
});

it.each(harmless)('no client breaks if %s', (_, change) => {
  expect(findBreaks(current, edit(current, change), now)).toEqual([]);
});

it('a deprecated operation may go after its sunset', () => {
  const before = edit(current, isDeprecated);
  const after = edit(before, ({ paths }) => delete paths[orders].get);
  const at = (time: string) => findBreaks(before, after, new Date(time));
  expect(at(sunset)).toEqual(['get /store/orders is gone']);
  expect(at('2027-12-01T00:00:01Z')).toEqual([]);
});

function edit(document: OpenApiDocument, change: Edit): OpenApiDocument {
  const draft = structuredClone(document);
  change(draft);
  return draft;
}

const ajv = addFormats.default(new Ajv2020({ strict: false, coerceTypes: false }));

const ids = (count: number) => Array.from({ length: count }, (_, index) => index).join(',');

/** Valid and invalid values; none is empty, since the store checks that. */
const texts = [
  ...['0', '1', '7', '1000', '1001', '-1', '1.5', '01', '1e2', 'abc', 'etag', 'Etag', 'etags'],
  ...['available', 'pending', 'sold', 'Sold', 'sold,pending', '7,8', '7,,8', '7,x', ' 7', 'null'],
  ...['9223372036854775807', '-9223372036854775808', ids(100), ids(101)],
];

const parameters = operationIds.flatMap((id) => {
  const { parameters, query }: Operation = operations[id];
  return Object.entries({ ...parameters, ...query }).map(([name, one]) => [id, name, one] as const);
});

it.each(parameters)(
  'in %s, the schema of %s accepts its valid values',
  (_, __, { parse, schema }) => {
    for (const text of texts) {
      expect(ajv.validate(schema, toValue(schema, text)), text).toBe(parse(text) !== undefined);
    }
  },
);

const { headers } = current.components;

// A mock server sends every header that the document has.
it.each(Object.entries(headers))('%s has an example that fits it', (_, { schema, example }) => {
  expect(example).toBeTypeOf('string');
  expect(ajv.validate(schema ?? {}, example)).toBe(true);
});

/** The value that a tool reads from a text by the document. */
function toValue(schema: ParameterSchema, text: string): unknown {
  const { items } = schema;
  if (items) return text.split(',').map((one) => toValue(items, one));
  return schema.type === 'integer' && /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : text;
}

// The conformance suite finds no problem in the service's responses; each of these has one.

const id = { 'Cache-Control': cacheControl, 'X-Request-Id': '8f2c1e0a-6a6b' };
const type = { 'Content-Type': 'application/json' };
const json = { ...id, ...type };
const plain = { 'Content-Type': 'text/plain' };
const page = '[{"petId":9007199254740993,"quantity":1,"status":"sold"}]';
const rounded = page.replace('9007199254740993', '1.5');
const missing = '{"code":"not_found","message":"There is none.","status":404}';

type Problem = [string, Record<string, string>, string, string | RegExp];
const ofDeprecated = Object.values<Operation>(operations)
  .filter(({ lifecycle }) => lifecycle.kind === 'deprecated')
  .map(({ method, path }): Problem => {
    const refused = { ...json, 'WWW-Authenticate': 'Bearer realm="petstore"' };
    const line = `401 ${method} ${fillPath(path, '1')}`;
    return [line, refused, missing, 'The header Deprecation is missing.'];
  });

it.each<Problem>([
  ...ofDeprecated,
  ['200 GET /inventory', { ...json, Age: '1' }, page, 'The document has no header age here.'],
  ['200 GET /inventory', { ...json, ETag: 'a' }, page, /^The header ETag is "a"; it must match/],
  ['404 GET /nothing', type, missing, 'The header X-Request-Id is missing.'],
  ['404 GET /nothing', json, '{"code":"not_found"}', /^The body must have required property/],
  ['304 GET /inventory', { ...id, ETag: '"a"' }, page, 'The body is not empty.'],
  ['200 GET /inventory', id, page, 'The Content-Type is "".'],
  ['200 GET /inventory', { ...id, ...plain }, page, 'The Content-Type is "text/plain".'],
  ['413 PATCH /inventory/1', { ...plain, Age: '1' }, 'no', /header age/],
  ['200 GET /inventory', json, page.slice(1), /^The body is not JSON: /],
  ['200 GET /inventory', json, rounded, 'petId is 1.5, which is not an int64.'],
  ['200 GET /inventory', json, page.replace('sold', 'lost'), /^The body\/0\/status must be/],
])('reports the problem in a response: %s', (response, headers, body, problem) => {
  const [status = '', method = '', path = ''] = response.split(' ');
  const head = { status: Number(status), headers: new Headers(headers) };
  const [found] = findResponseProblems(method, path, { ...head, bytes: Buffer.from(body) });
  expect(found).toMatch(problem);
});

it('checks a response without its body by the head, and a preflight’s not at all', () => {
  const head = { status: 200, headers: new Headers() };
  const missing = ['X-Request-Id', 'Cache-Control'].map((name) => `The header ${name} is missing.`);
  expect(findResponseProblems('GET', '/inventory', head)).toEqual(missing);
  expect(findResponseProblems('OPTIONS', '/inventory', head)).toEqual([]);
  const proxied = { status: 200, headers: new Headers({ ...id, Age: '1', ETag: 'a' }) };
  expect(findResponseProblems('GET', '/inventory', proxied, { isProxied: true })).toEqual([
    expect.stringContaining('ETag'),
  ]);
});
