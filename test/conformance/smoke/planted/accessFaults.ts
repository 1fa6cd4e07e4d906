import { type PlantedFaults, remove, set, spoil } from './spoil.ts';

const anyList = /^GET \/inventory\b.* 200$/;
/** The first key that a run sends. */
let validKey = '';

/** What can be wrong with API keys and with what browsers may do. */
export const accessFaults: PlantedFaults = {
  'a preflight that lets no method through': [
    spoil(/^OPTIONS \/pets/, set('access-control-allow-methods', 'POST')),
    'browsers: may call getPet: the preflight needs no key: ',
  ],
  'a preflight that lets not every header through': [
    spoil(/^OPTIONS \/pets/, set('access-control-allow-headers', 'Authorization')),
    'browsers: may call getPet: the preflight needs no key: ',
  ],
  'a preflight for another origin': [
    spoil(/^OPTIONS \/pets/, set('access-control-allow-origin', 'https://other.example')),
    'browsers: may call getPet: the preflight needs no key: ',
  ],
  'a preflight without a request id': [
    spoil(/^OPTIONS \/pets/, remove('x-request-id')),
    'browsers: may call getPet: the preflight needs no key: ',
  ],
  'errors that a page cannot read': [
    spoil(/^GET .* 401$/, remove('access-control-allow-origin')),
    'browsers: can read a list, an error and what the gateway answers by itself: ',
  ],
  'headers that a page cannot read': [
    spoil(anyList, set('access-control-expose-headers', 'ETag')),
    'browsers: can read a list, an error and what the gateway answers by itself: ',
  ],
  'a wrong challenge': [
    spoil(/^PATCH .* 401$/, set('www-authenticate', 'Basic')),
    'API keys: updateInventory asks for a key: ',
  ],
  'a challenge with an error for who sent no key': [
    spoil(
      /^GET .* 401$/,
      set('www-authenticate', 'Bearer realm="petstore", error="invalid_token"'),
    ),
    'API keys: listInventory asks for a key: ',
  ],
  'a challenge without its error': [
    spoil(/^GET .* 401$/, set('www-authenticate', 'Bearer realm="petstore"')),
    'API keys: listInventory refuses a malformed key and an unknown one: ',
  ],
  'a secret that nobody checks': [
    {
      ask({ headers }) {
        const { authorization = '' } = headers;
        if (/^Bearer psk_/.test(authorization)) validKey ||= authorization;
        const keyId = validKey.slice(0, 'Bearer psk_0123456789'.length);
        if (keyId && authorization.startsWith(keyId)) headers.authorization = validKey;
      },
    },
    'API keys: the key with another secret is refused: ',
  ],
  'a scheme that is told by its case': [
    {
      ask({ headers }) {
        if (headers.authorization?.startsWith('bEARER')) delete headers.authorization;
      },
    },
    'API keys: the scheme and the name of the header may be in any case: ',
  ],
  'a key that nobody checks': [
    {
      ask({ method, headers }) {
        const { authorization = '' } = headers;
        if (/^Bearer psk_/.test(authorization)) validKey ||= authorization;
        if (method === 'GET' && authorization) headers.authorization = validKey;
      },
    },
    'API keys: listInventory refuses a malformed key and an unknown one: ',
  ],
};
