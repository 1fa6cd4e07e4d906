import { type PlantedFaults, remove, replace, set, spoil } from './spoil.ts';

/** What can be wrong with the other operations, and with any answer. */
export const otherFaults: PlantedFaults = {
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
  'a wrong Allow': [
    spoil(/^POST/, set('allow', 'GET, POST')),
    'the gateway: answers 405 to POST /inventory, and says what is allowed: ',
  ],
  'a lost Deprecation': [
    spoil(/^GET \/pets\/abc/, remove('deprecation')),
    'getPet: refuses the id abc: ',
  ],
  'a Link to another page': [
    spoil(/^GET \/pets\/abc/, set('link', '<https://docs.petstore.example>; rel="deprecation"')),
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
    'updateInventory: writes the count of --entry back under its tag, once: PATCH /inventory/9007199254740993 answered 200 with the ETag as before',
  ],
  'an update that answers another count': [
    spoil(/^PATCH .* 200$/, replace(/"quantity":\d+/, '"quantity":77')),
    'updateInventory: writes the count of --entry back under its tag, once: ',
  ],
  'a tag of an update that the list does not have': [
    spoil(/^PATCH .* 200$/, set('etag', '"other"')),
    'updateInventory: writes the count of --entry back under its tag, once: GET /inventory?petId=',
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

/** In almost every row, so that nothing could be seen beside it. */
export const commonFaults: PlantedFaults = {
  'an X-Request-Id for all': [
    spoil(/^GET/, set('x-request-id', '8f2c1e0a-6a6b-4c9a')),
    'an X-Request-Id of its own',
  ],
};
