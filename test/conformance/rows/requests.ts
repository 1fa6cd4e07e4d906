import { describe, expect, test } from 'vitest';
import { httpMethods, type Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { expectError, expectReadableFrom, expectSuccess } from '../expectations.ts';
import { sendValid, suites } from '../operations/suites.ts';
import { type Sending, send, type TargetSource } from '../target.ts';

const unknownPaths = [
  ...'/ /nothing /Inventory /inventory/1/2 /inventory/1/quantity /pets /pets/1/photos'.split(' '),
  ...'/store /store/orders/1/2 /v1/inventory /constructor /__proto__'.split(' '),
].filter((path) => operationIds.every((id) => operations[id].path !== path));

/** Each method without an operation on a path, with the path's allowed methods. */
const otherMethods = operationIds.flatMap((id) => {
  const { path } = operations[id];
  const same = Object.values(operations).filter((operation) => operation.path === path);
  const allowed: string[] = same.map(({ method }) => method);
  const others = httpMethods.filter((name) => !allowed.includes(name));
  return others.map((method) => [method, id, allowed] as const);
});

export function describeGateway(target: TargetSource): void {
  describe('the gateway', () => {
    test.each(unknownPaths)('returns 404 for the unknown path %s', async (path) => {
      const headers = { Origin: target().origin };
      const response = await send(target(), 'GET', path, { headers });
      expectError(response, 'unknown_path');
      expect(response.text).toContain('The base URL ends in /v1');
      expectReadableFrom(target().origin, response);
    });

    test('says so too of a path without /v1', async () => {
      const baseUrl = target().baseUrl.replace(/\/v1$/, '');
      const response = await send({ ...target(), baseUrl, onResponse() {} }, 'GET', '/inventory');
      expectError(response, 'unknown_path');
      expect(response.text).toContain('The base URL ends in /v1');
    });

    test.each(operationIds)('ignores extra slashes in the path of %s', async (id) => {
      const { path } = suites[id].toValidRequest(target());
      for (const spelling of [`${path}/`, path.replaceAll('/', '//'), `//${path}//`]) {
        expectSuccess(await sendValid(target(), id, { path: spelling }), id);
      }
      const encoded = await send(target(), 'GET', `/${path.slice(1).replaceAll('/', '%2F')}%2F`);
      expectError(encoded, 'unknown_path');
    });

    test('ignores extra slashes before /v1', async () => {
      const baseUrl = target().baseUrl.replace(/\/v1$/, '//v1');
      const response = await send({ ...target(), baseUrl, onResponse() {} }, 'GET', '/inventory');
      expectSuccess(response, 'listInventory');
    });

    test.each(otherMethods)('returns 405 for %s on the path of %s', async (method, id, allowed) => {
      const { path } = suites[id].toValidRequest(target());
      const headers = { Origin: target().origin };
      const response = await send(target(), method, path, { headers });
      expectError(response, 'method_not_allowed');
      expectReadableFrom(target().origin, response);
      const methods = (response.headers.get('Allow') ?? '').split(',').map((name) => name.trim());
      expect(methods.filter((name) => name !== 'OPTIONS')).toEqual(allowed);
      const { message } = response.json() as { message: string };
      expect(message).toBe(`This path allows only ${methods.join(', ')}.`);
    });

    test.each(['/inventory/%', '/inventory/%zz', '/inventory/%ff'])(
      'returns 400 for %s, which is not percent-encoded text',
      async (path) => {
        expectError(await send(target(), 'GET', path), 'invalid_request');
      },
    );

    test.each(operationIds)(
      'refuses each parameter of %s that is empty or repeated',
      async (id) => {
        const { query = {}, exclusive = [] }: Operation = operations[id];
        const invalid = Object.keys(query).flatMap((name) => [`${name}=`, `${name}=&${name}=`]);
        const pairs = exclusive.map(([one, other]) => `${one}=1&${other}=1`);
        const { method, path } = suites[id].toValidRequest(target());
        for (const search of [...invalid, ...pairs]) {
          const response = await send(target(), method, `${path}?${search}`);
          expectError(response, 'invalid_request', id);
        }
      },
    );

    test.each(operationIds)(
      'refuses other spellings of the parameters of %s, and names the right one',
      async (id) => {
        const { query = {} }: Operation = operations[id];
        const { method, path } = suites[id].toValidRequest(target());
        for (const name of Object.keys(query)) {
          for (const spelling of toSpellings(name)) {
            const search = `${encodeURIComponent(spelling)}=7&utm_source=mail`;
            const response = await send(target(), method, `${path}?${search}`);
            expectError(response, 'invalid_request', id);
            const { message } = response.json() as { message: string };
            expect(message).toBe(`${JSON.stringify(spelling)} must be spelled "${name}".`);
          }
        }
      },
    );

    test.each(operationIds)('ignores unknown parameters of %s', async (id) => {
      const { path } = suites[id].toValidRequest(target());
      const plain = await sendValid(target(), id);
      const response = await sendValid(target(), id, {
        path: `${path}?${unknownParameters.join('&')}`,
      });
      expectSuccess(response, id);
      expect(response.text).toBe(plain.text);
    });

    test.each(operationIds)(
      'gives each request of %s its own X-Request-Id',
      async (operationId) => {
        const responses = [1, 2, 3].map(() => sendValid(target(), operationId));
        const ids = (await Promise.all(responses)).map(({ headers }) =>
          headers.get('X-Request-Id'),
        );
        expect(new Set(ids).size).toBe(3);
      },
    );
  });
}

/** Other spellings of a parameter, as people and libraries write them. */
function toSpellings(name: string): string[] {
  const words = name.replace(/[A-Z]/g, ' $&').toLowerCase().split(' ');
  const singular = name.replace(/s$/, '');
  const spellings = [
    ...[`${name}[]`, `${name}[0]`, `${name}[a][b]`, `${name}.0`, `${name}[]s`],
    ...[`${name}s`, `${name}es`, singular, name.toUpperCase(), name.toLowerCase()],
    ...[words.join('_'), words.join('-'), words.join(' '), `_${name}`],
    ...[`${words.join('_')}s[]`.toUpperCase(), ` ${name} `, `${name}%5B%5D`],
  ];
  return [...new Set(spellings)].filter((spelling) => spelling !== name);
}

const unknownParameters = [
  ...['_=1', 'utm_source=mail', 'v=2', 'q=x', 'page=2', 'id=7', 'ids=7', 'pets=7', 'pet=7', '=1'],
  ...['offset=0', 'limited=1', 'fields=petId', 'state=sold', 'petId2=7', 'xlimit=1', 'statuses2='],
  ...['__proto__=1', 'constructor=1', 'hasOwnProperty=1', '%5B%5D=1', '%00=1', '.=1', ''],
];

export function describeCors(target: TargetSource): void {
  describe('a browser storefront', () => {
    test.each(operationIds)('may call %s: the preflight needs no key', async (operationId) => {
      const { method, path } = suites[operationId].toValidRequest(target());
      const response = await send(target(), 'OPTIONS', path, {
        apiKey: null,
        headers: {
          Origin: target().origin,
          'Access-Control-Request-Method': method,
          'Access-Control-Request-Headers': 'authorization,content-type,if-match',
        },
      });
      const { status, headers } = response;
      expect([200, 204]).toContain(status);
      expect([target().origin, '*']).toContain(headers.get('Access-Control-Allow-Origin'));
      expect(list(headers.get('Access-Control-Allow-Methods'))).toContain(method.toLowerCase());
      expect(list(headers.get('Access-Control-Allow-Headers'))).toEqual(
        expect.arrayContaining(['authorization', 'content-type', 'if-match']),
      );
      expect(headers.get('X-Request-Id')).not.toBeNull();
    });

    test.each(operationIds)('can read the responses and errors of %s', async (operationId) => {
      const headers = { Origin: target().origin };
      const response = await sendValid(target(), operationId, { headers });
      expectSuccess(response, operationId);
      expectReadableFrom(target().origin, response);
      const refused = await sendValid(target(), operationId, { apiKey: null, headers });
      expectError(refused, 'unauthorized', operationId);
      expectReadableFrom(target().origin, refused);
    });
  });
}

function list(header: string | null): string[] {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase());
}

const withoutCredentials: Record<string, Record<string, string>> = {
  'no Authorization header': {},
  'an empty Authorization header': { Authorization: '' },
  'another scheme': { Authorization: 'Basic dXNlcjpwYXNzd29yZA==' },
  'a key in a header of another name': { 'X-Api-Key': 'psk_abc' },
};

const invalidKeys: Record<string, (apiKey: string) => string> = {
  nonsense: () => 'nonsense',
  'a JSON Web Token': () => 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.',
  'a well-formed key that nobody was given': () => mintApiKey().apiKey,
  'a well-formed key with the right key id and another secret': (key) =>
    mintApiKey(parseApiKey(key)?.keyId).apiKey,
  'a very long key': () => 'a'.repeat(4000),
  'the key with its last character changed': (key) =>
    key.slice(0, -1) + (key.endsWith('0') ? '1' : '0'),
  'the key with a character of its middle changed': (key) => changeMiddle(key),
  'the key cut short': (key) => key.slice(0, -1),
  'the key with more behind it': (key) => `${key}0`,
  'the key twice': (key) => `${key} ${key}`,
  'the key in capitals': (key) => key.toUpperCase(),
  'the key without its prefix': (key) => key.replace(/^[^_]*_/, ''),
};

export function describeAuthentication(target: TargetSource): void {
  describe.each(operationIds)('%s checks the API key', (operationId) => {
    test.each(Object.entries(withoutCredentials))('asks for one after %s', async (_, headers) => {
      const response = await sendValid(target(), operationId, { apiKey: null, headers });
      expectError(response, 'unauthorized', operationId);
      expect(toChallenge(response)).toBe('Bearer realm="petstore"');
    });

    test.each(Object.entries(invalidKeys))('refuses %s', async (_, toInvalidKey) => {
      const apiKey = toInvalidKey(target().apiKey);
      const response = await sendValid(target(), operationId, { apiKey });
      expectError(response, 'unauthorized', operationId);
      expect(toChallenge(response)).toMatch(/^Bearer realm="petstore", ?error="invalid_token"/);
      expect(response.text).not.toContain(apiKey);
    });

    test('takes the scheme and the header name in any case', async () => {
      const headers = { aUTHORIZATION: `bEARER ${target().apiKey}` };
      const response = await sendValid(target(), operationId, { apiKey: null, headers });
      expectSuccess(response, operationId);
    });
  });

  test.each(operationIds)(
    '%s takes a key that allows reading alone, unless it writes',
    async (id) => {
      const response = await sendValid(target(), id, { apiKey: target().readOnlyApiKey });
      if (operations[id].permission === 'read') expectSuccess(response, id);
      else expectError(response, 'forbidden', id);
    },
  );
}

const petIds = [
  ...'abc null 1.0 1.5 +1 %2B1 01 -01 -0 --1 - %201 1%20 1%0A 1%00 1e3 0x10 1_000 1,2 1%2F2'.split(
    ' ',
  ),
  ...'%EF%BC%91 9223372036854775808 -9223372036854775809 18446744073709551617'.split(' '),
  '1'.repeat(4000),
];

/** Texts for `{petId}` that are no int64, or spell one in another way; each after a short name. */
const malformedPetIds = petIds.map((petId) => [petId.slice(0, 24), petId] as const);

const conditions = [{}, { 'If-Match': '*' }, { 'If-Match': '"1"' }, { 'If-None-Match': '*' }];

export function describePetIds(target: TargetSource): void {
  const ask = (id: OperationId, petId: unknown, sending: Sending = {}) => {
    const path = operations[id].path.replace('{petId}', String(petId));
    return sendValid(target(), id, { ...sending, path });
  };
  const withPetId = operationIds.filter((id) => operations[id].path.endsWith('/{petId}'));

  describe.each(withPetId)('%s checks the petId', (id) => {
    test.each(malformedPetIds)('returns 400 for %s', async (_, petId) => {
      expectError(await ask(id, petId), 'invalid_request', id);
    });

    test('returns 404 for one that nothing has, whatever tag the client has, and creates nothing', async () => {
      const { missingPetId } = target().fixtures;
      for (const headers of conditions) {
        const response = await ask(id, missingPetId, { headers });
        expectError(response, 'not_found', id);
        expect(response.headers.get('ETag')).toBeNull();
      }
      expect((await send(target(), 'GET', `/inventory/${missingPetId}`)).status).toBe(404);
    });

    test('checks the key first', async () => {
      expectError(await ask(id, 'abc', { apiKey: null }), 'unauthorized', id);
    });

    test('takes an empty one for the path above', async () => {
      const path = operations[id].path.replace('/{petId}', '');
      const { status, text } = await sendValid(target(), id, { path });
      expect(await ask(id, '')).toMatchObject({ status, text });
    });
  });
}

/** API Gateway renames this header of a function's response, and this cannot be turned off. */
function toChallenge({ headers }: ExactResponse): string | null {
  return headers.get('WWW-Authenticate') ?? headers.get('x-amzn-Remapped-WWW-Authenticate');
}

function changeMiddle(key: string): string {
  const middle = Math.floor(key.length / 2);
  return key.slice(0, middle) + (key[middle] === 'A' ? 'B' : 'A') + key.slice(middle + 1);
}
