import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../infra/openapi/openApi.ts';

/** How far a client may rely on an operation, the least first; nothing is taken back by a deprecation. */
const levels = ['experimental', 'beta', 'stable', 'deprecated'];

/** What a document says for people, or what `findBreaks` itself compares. */
const skipped = /^(summary|description|tags|examples?|deprecated|x-stability|x-sunset)$/;

/**
 * Where clients of the released document find another interface: something that it says is gone or has
 * another value, or something is asked of them that was not. `infra/docs/guides/changes.md` promises this.
 */
function findBreaks(before: OpenApiDocument, after: OpenApiDocument, now = new Date()): string[] {
  const [major, newMajor] = [before, after].map(({ info }) => info.version.split('.')[0]);
  if (major !== newMajor) return [];
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

/** All that a part of a document says for programs, each with its place; names in lists are places too. */
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

/** Whether every client can live with what became of a place: it may send more, or gets less. */
function isHarmless(place: string, facts: Facts, newFacts: Facts): boolean {
  const [value, next] = [facts.get(place), newFacts.get(place)];
  const [owner = '', name = ''] = place.split(/ (?=\S+$)/);
  const isValue = owner.endsWith(' enum');
  if (place.includes(' responses ')) {
    if (!isValue || !place.includes(' content ')) return value === undefined;
    return has(newFacts, owner) && (next === undefined || !has(facts, owner));
  }
  const isRequired = / required( \S+)?$/.test(place);
  if (next === undefined) return isRequired;
  if (value === undefined) {
    if (isValue && has(facts, owner)) return true;
    return !isRequired && !has(facts, owner.replace(/ enum$/, ''));
  }
  return /^max/.test(name) ? Number(next) > Number(value) : /^min/.test(name) && next < value;
}

/** Whether there is anything below a place. */
function has(facts: Facts, place: string): boolean {
  return facts.keys().some((one) => one.startsWith(`${place} `));
}

type Fact = [place: string, value: string | number];
type Facts = ReadonlyMap<string, string | number>;

const released = read('openapi.released.json');
const current = read('openapi.json');
const now = new Date('2026-12-01T00:00:00Z');

/** Where something is in a document, and what becomes of it: another value, members more, or nothing. */
type Change = readonly [place: string, value?: unknown];

const list = 'paths /inventory get';
const pet = 'paths /pets/{petId} get';
const orders = 'paths /store/orders get';
const update = 'paths /inventory/{petId} patch';
const limit = `${list} parameters limit`;
const status = `${list} parameters status`;
const schemas = 'components schemas';
const invalid = `${list} responses 400 content application/json schema allOf 1 properties code`;
/** The one operation that changes another way may change in its request's body. */
const stable: Change = [`${update} x-stability`, 'stable'];

const breaking: [change: Change, ...beforehand: Change[]][] = [
  [['servers 0']],
  [['security', [{ apiKey: [] }, { other: [] }]]],
  [[pet]],
  [[`${list} operationId`, 'listStock']],
  [[`${list} x-stability`, 'experimental']],
  [[`${pet} x-sunset`, '2027-06-01T00:00:00.000Z']],
  [[status]],
  [[`${limit} required`, true]],
  [[`${limit} schema maximum`, 500]],
  [[`${limit} schema multipleOf`, 2]],
  [[`${limit} schema enum`, [1]]],
  [[`${status} schema enum 1`]],
  [[`${schemas} InventoryUpdate required end`, 'reason'], stable],
  [[`${list} responses 304`]],
  [[`${list} responses 200 headers ETag`]],
  [['components headers X-Request-Id required', false]],
  [[`${schemas} Order required 4`]],
  [[`${schemas} Order properties shipDate`]],
  [[`${schemas} PetStatus enum end`, 'lost']],
  [[`${schemas} PetStatus enum`]],
  [[`${invalid} const`, 'bad']],
];

const harmless: [name: string, ...changes: Change[]][] = [
  ['nothing'],
  ['an experimental operation that is gone', [update]],
  ['a new operation', ['paths /new', { get: {} }]],
  ['a deprecation', [`${orders} x-stability`, 'deprecated']],
  [
    'a new optional parameter',
    [
      `${pet} parameters end`,
      { name: 'sort', in: 'query', required: false, schema: { enum: [1] } },
    ],
  ],
  ['limits that are raised', [`${limit} schema maximum`, 5000], [`${limit} schema minimum`, 0]],
  ['more values of a parameter', [`${status} schema enum end`, 'lost']],
  ['a new member', [`${schemas} Pet properties age`, { type: 'integer', enum: [1] }]],
  ['a member that is always there now', [`${schemas} Pet required end`, 'photoUrls']],
  ['fewer values of a member', [`${schemas} Order properties status enum 0`]],
  ['anything in a new major version', ['info version', '2.0.0'], ['paths /inventory']],
];

it('the document breaks no client of the last release', () => {
  expect(findBreaks(released, current)).toEqual([]);
});

it.each(breaking)('%s: refused', (change, ...beforehand) => {
  const before = edit(current, beforehand);
  expect(findBreaks(before, edit(before, [change]), now)).not.toEqual([]);
});

it.each(harmless)('%s: let through', (_, ...changes) => {
  expect(findBreaks(current, edit(current, changes), now)).toEqual([]);
});

it('a deprecated operation may go once its sunset has passed', () => {
  const after = edit(current, [['paths /pets/{petId}']]);
  const at = (time: string) => findBreaks(current, after, new Date(time));
  expect(at('2027-12-01T00:00:00Z')).toEqual(['get /pets/{petId} is gone']);
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
