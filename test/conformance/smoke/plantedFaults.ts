import { fixtures } from '../fixtures.ts';
import type { FrontAnswer, PlantedFault } from './front.ts';

const wholeList = /^GET \/inventory 200$/;
const anyList = /^GET \/inventory\b.* 200$/;
const [, second] = fixtures.inventory;
const secondEntry = new RegExp(`\\{"petId":${second?.petId},[^}]*\\},`);

/** The first key that a run sends. */
let validKey = '';

/** By name: a fault, and what the report says of the row that it breaks. The stage has nine of the fixtures' entries. */
export const plantedFaults: Record<string, [fault: PlantedFault, report: string]> = {
  'a wrong status': [
    spoil(/^GET \/pets\/-?\d+ 404$/, (answer) => {
      answer.status = 410;
    }),
    'getPet: answers 404 to an id that no pet has: GET /pets/',
  ],
  'a crash': [
    spoil(/^GET \/store\/orders 200$/, (answer) => {
      answer.status = 500;
      answer.text = '{"code":"internal_error","message":"Something went wrong.","status":500}';
    }),
    'listOrders: answers a page of orders, newest first: GET /store/orders answered 500 {"code":"internal_error"',
  ],
  'no Error body': [
    spoil(/limit=0 400$/, replace(/^.*$/, '{"error":"limit"}')),
    'listInventory: refuses limit=0: ',
  ],
  'another code': [
    spoil(/^GET \/smoke 404$/, replace('not_found', 'forbidden')),
    'the gateway: answers 404 to the unknown path /smoke: ',
  ],
  'another media type': [
    spoil(/^GET \/pets 404$/, set('content-type', 'text/html')),
    'the gateway: answers 404 to the unknown path /pets: ',
  ],
  'a lost X-Request-Id': [
    spoil(/^GET \/store/, remove('x-request-id')),
    'listOrders: answers a page of orders, newest first: ',
  ],
  'an X-Request-Id for all': [
    spoil(/^GET/, set('x-request-id', '8f2c1e0a-6a6b-4c9a')),
    'an X-Request-Id of its own',
  ],
  'an entry missing from the whole list': [
    spoil(wholeList, replace(secondEntry, '')),
    'the whole list: has every entry of the first pages, and no other among them: ',
  ],
  'an entry missing from large pages': [
    spoil(/limit=1000 200$/, replace(secondEntry, '')),
    'listInventory: answers the same entries in smaller pages: ',
  ],
  'an entry missing from all pages': [
    spoil(/limit=\d+ 200$/, replace(secondEntry, '')),
    'the whole list: has every entry of the first pages, and no other among them: ',
  ],
  'an entry that comes twice': [
    spoil(wholeList, (answer) => {
      const [entry = ''] = secondEntry.exec(answer.text) ?? [];
      answer.text = `[${entry}${answer.text.slice(1)}`;
    }),
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'an id rounded in the whole list': [
    spoil(wholeList, replace('9007199254740993', '9007199254740992')),
    'the whole list: has every entry of the first pages, and no other among them: ',
  ],
  'an id rounded wherever it is answered': [
    spoil(anyList, replace('9007199254740993', '9007199254740992')),
    'listInventory: answers the entries of some ids, in that order, ids exact: ',
  ],
  'an id in quotes': [
    spoil(wholeList, replace(/"petId":(-?\d+)/g, '"petId":"$1"')),
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'a quantity in quotes': [
    spoil(anyList, replace(/"quantity":(\d+)/g, '"quantity":"$1"')),
    'listInventory: answers pages of at most 1,000 entries, each with three members: ',
  ],
  'a list without its end': [
    spoil(wholeList, replace(/,\{[^{]*$/, '')),
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'a list that breaks off': [
    spoil(wholeList, (answer) => {
      answer.breaksOff = true;
    }),
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'a next page that is the same again': [
    spoil(/^GET \/inventory\?limit=\d+ 200$/, (answer, path) => {
      if (answer.headers.link) answer.headers.link = `</v1${path}&again=1>; rel="next"`;
    }),
    'listInventory: answers the same entries in smaller pages: ',
  ],
  'a page that is empty, and not the last': [
    spoil(/^GET \/inventory\?limit=4&cursor=/, (answer, path) => {
      answer.text = '[]';
      answer.headers.link = `</v1${path}>; rel="next"`;
    }),
    'listInventory: answers the same entries in smaller pages: ',
  ],
  'a page that is too long': [
    {
      ask(asked) {
        asked.path = asked.path.replace('limit=4', 'limit=9');
      },
    },
    'listInventory: answers the same entries in smaller pages: ',
  ],
  'an entry for an id that none has': [
    spoil(/petId=-?\d+ 200$/, replace(/^\[\]$/, '[{"petId":1,"quantity":1,"status":"sold"}]')),
    'listInventory: answers no entry for an id that none has: ',
  ],
  'entries in another order than that of their ids': [
    spoil(/petId=[^&]*,[^&]* 200$/, (answer) => {
      answer.text = `[${answer.text.match(/\{[^}]*\}/g)?.reverse()}]`;
    }),
    'listInventory: answers the entries of some ids, in that order, ids exact: ',
  ],
  'more entries than those of the ids': [
    spoil(
      /petId=[^&]*,[^&]* 200$/,
      replace(
        /\]$/,
        ',{"petId":1,"quantity":1,"status":"sold"},{"petId":3,"quantity":1,"status":"sold"}]',
      ),
    ),
    'listInventory: answers the entries of some ids, in that order, ids exact: ',
  ],
  'entries without their tags': [
    {
      ask(asked) {
        asked.path = asked.path.replace('include=etag', 'exclude=etag');
      },
    },
    'listInventory: gives each entry its tag with include=etag: ',
  ],
  'entries with their tags unasked': [
    {
      ask(asked) {
        asked.path = asked.path.replace('limit=1000', 'limit=1000&include=etag');
      },
    },
    'listInventory: answers pages of at most 1,000 entries, each with three members: ',
  ],
  'a pet with a rounded id': [
    spoil(/^GET \/pets\/%.* 200$/, replace('"id":9007199254740993', '"id":9007199254740992')),
    'getPet: answers a pet with its id digit for digit, also to a percent-encoded id: ',
  ],
  'an order that comes twice': [
    spoil(/^GET \/store\/orders 200$/, replace(/^\[(\{[^}]*\})/, '[$1,$1')),
    'listOrders: answers a page of orders, newest first: ',
  ],
  'a cursor of orders that is passed over': [
    {
      ask(asked) {
        asked.path = asked.path.replace(/^(.*orders\?limit=1)&cursor=.*/, '$1');
      },
    },
    'listOrders: goes on with the next page where the first ended: ',
  ],
  'a status that is passed over': [
    {
      ask(asked) {
        asked.path = asked.path.replace('status=', 'stat=').replace('stat=lost', 'status=lost');
      },
    },
    'listInventory: answers the entries of one status: ',
  ],
  'a list that never is 304': [
    { ask: ({ headers }) => void delete headers['if-none-match'] },
    'the whole list: is not sent again to who has it: ',
  ],
  'a list that always is 304': [
    {
      answer({ headers }, answer) {
        if (headers['if-none-match'] === undefined) return;
        answer.status = 304;
        answer.text = '';
      },
    },
    'the whole list: is whole, each entry once, with three members and an exact id: ',
  ],
  'a lost ETag': [
    spoil(wholeList, remove('etag')),
    'the whole list: is not sent again to who has it: ',
  ],
  'a wrong Allow': [
    spoil(/^POST/, set('allow', 'GET, POST')),
    'the gateway: answers 405 to POST /inventory, and says what is allowed: ',
  ],
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
  'a lost Deprecation': [
    spoil(/^GET \/pets\/abc/, remove('deprecation')),
    'getPet: refuses the id abc: ',
  ],
  'another Sunset': [
    spoil(/^GET \/pets\/01/, set('sunset', 'Wed, 01 Dec 2032 00:00:00 GMT')),
    'getPet: refuses the id 01: ',
  ],
  'orders with the oldest first': [
    spoil(/^GET \/store\/orders 200$/, (answer) => {
      answer.text = `[${answer.text.match(/\{[^}]*\}/g)?.reverse()}]`;
    }),
    'listOrders: answers a page of orders, newest first: ',
  ],
  'a tag that is not heeded': [
    { ask: ({ headers }) => void delete headers['if-match'] },
    'updateInventory: writes the count of --entry back under its tag, once: ',
  ],
  'an update that leaves the tag': [
    {
      answer({ method, headers }, answer) {
        if (method === 'PATCH' && answer.status === 200) answer.headers.etag = headers['if-match'];
      },
    },
    'updateInventory: writes the count of --entry back under its tag, once: ',
  ],
  'an update that answers another count': [
    spoil(/^PATCH .* 200$/, replace(/"quantity":\d+/, '"quantity":77')),
    'updateInventory: writes the count of --entry back under its tag, once: ',
  ],
  'a tag of an update that the list does not have': [
    spoil(/^PATCH .* 200$/, set('etag', '"other"')),
    'updateInventory: writes the count of --entry back under its tag, once: ',
  ],
  'a 412 without the current tag': [
    spoil(/^PATCH .* 412$/, set('etag', '"other"')),
    'updateInventory: writes the count of --entry back under its tag, once: ',
  ],
  'a body that is not looked at': [
    spoil(/^PATCH \/inventory\/-?\d+ 415$/, (answer) => {
      answer.status = 404;
      answer.text = '{"code":"not_found","message":"There is none.","status":404}';
    }),
    'updateInventory: refuses a body that is not said to be JSON, before it reads it: ',
  ],
};

/** A fault of the answers whose request the pattern meets. */
function spoil(pattern: RegExp, change: (answer: FrontAnswer, path: string) => void): PlantedFault {
  return {
    answer({ method, path }, answer) {
      if (pattern.test(`${method} ${path} ${answer.status}`)) change(answer, path);
    },
  };
}

function set(name: string, value: string) {
  return (answer: FrontAnswer) => {
    answer.headers[name] = value;
  };
}

function remove(name: string) {
  return (answer: FrontAnswer) => {
    delete answer.headers[name];
  };
}

function replace(from: string | RegExp, to: string) {
  return (answer: FrontAnswer) => {
    answer.text = answer.text.replace(from, to);
  };
}
