import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationIds, operations } from '../../../../shared/contract/operations.ts';
import { fixtures } from '../../../conformance/fixtures.ts';
import { openLocalTarget } from '../../../conformance/localTarget.ts';
import type { ConformanceTarget } from '../../../conformance/target.ts';
import { type Fault, type Front, type FrontResponse, startFront } from './front.ts';
import { smoke } from './smoke.ts';

const entry = '9007199254740993';
const origin = 'https://www.petstore.example';
const crash = '{"code":"internal_error","message":"Something went wrong.","status":500}';
const firstEntry = new RegExp(`\\{"petId":${fixtures.inventory[0]?.petId},[^}]*\\},`);
const write = 'updateInventory: writes the count of --entry back under its tag, once';
const wholeList = 'the whole list: is whole, and has the entries of the first page';

/** A row that fails, what is wrong, and the fault that it fails on. */
type Planted = readonly [row: string, name: string, fault: Fault];

/** For each operation, in a row that follows from the contract. */
const contractFaults = operationIds.flatMap((id): Planted[] => {
  const { method, path } = operations[id];
  const pattern = path.replace(/\{\w+\}/, '-?\\d+');
  const preflight = new RegExp(`^OPTIONS ${pattern}\\b`);
  const unauthorized = new RegExp(`^${method} ${pattern}\\b.* 401$`);
  const keyRow = `${id}: refuses no key, and the key with another secret`;
  const preflightRow = `${id}: lets pages of an allowed origin call it: the preflight needs no key`;
  const methodRow = `the gateway: answers 405 to DELETE ${path}, and says what is allowed`;
  const challenge = 'Bearer realm="petstore"';
  return [
    [preflightRow, 'another method', spoil(preflight, set('access-control-allow-methods', 'POST'))],
    [preflightRow, 'no header', spoil(preflight, set('access-control-allow-headers', 'Accept'))],
    [
      preflightRow,
      'another origin',
      spoil(preflight, set('access-control-allow-origin', 'https://a.example')),
    ],
    [preflightRow, 'no X-Request-Id', spoil(preflight, remove('x-request-id'))],
    [keyRow, 'no challenge', spoil(unauthorized, remove('www-authenticate'))],
    [keyRow, 'no error in it', spoil(unauthorized, set('www-authenticate', challenge))],
    [keyRow, 'a secret that nobody checks', trustKeyIds(new RegExp(`^${method} ${pattern}\\b`))],
    [methodRow, 'a wrong Allow', spoil(new RegExp(`^DELETE ${pattern} `), set('allow', 'DELETE'))],
  ];
});

const plantedFaults: readonly Planted[] = [
  ...contractFaults,
  ['listInventory: answers 200', 'a crash', spoil(/^GET \/inventory\?limit=100 200/, fail)],
  [
    'listInventory: refuses limit=smoke',
    'no Error',
    spoil(/inventory\?limit=s/, replace('code', 'a')),
  ],
  [
    'listInventory: gives each entry its tag with include=etag',
    'no tags',
    rewrite(/(,.*)include=etag/, '$1'),
  ],
  [
    'listOrders: answers 200',
    'text',
    spoil(/orders\?limit=100 200/, set('content-type', 'text/html')),
  ],
  [
    'listOrders: answers 200',
    'a quantity in quotes',
    spoil(/orders\?limit=100 200/, replace(/"quantity":(\d+)/g, '"quantity":"$1"')),
  ],
  ['listOrders: refuses limit=smoke', 'no refusal', rewrite('=smoke', '=1')],
  [
    'updateInventory: answers 404 to an unknown id, or 403 to a read key',
    'an update of nothing',
    spoil(/^PATCH .* 404$/, (response) => {
      response.status = 412;
      response.text = '{"code":"precondition_failed","message":"a","status":412}';
    }),
  ],
  [write, 'If-Match is ignored', { ask: ({ headers }) => void delete headers['if-match'] }],
  [
    write,
    'Idempotency-Key is ignored',
    { ask: ({ headers }) => void delete headers['idempotency-key'] },
  ],
  [write, 'another count', spoil(/^PATCH .* 200$/, replace(/"quantity":\d+/, '"quantity":77'))],
  [write, 'another tag', spoil(/^PATCH .* 200$/, set('etag', '"other"'))],
  [write, 'a weak tag', spoil(/^PATCH .* 200$/, set('etag', 'W/"weak"'))],
  [
    write,
    'the tag as before',
    {
      answer({ method, headers }, response) {
        if (method === 'PATCH' && response.status === 200)
          response.headers.etag = headers['if-match'];
      },
    },
  ],
  [write, '412 without the tag of now', spoil(/^PATCH .* 412$/, set('etag', '"other"'))],
  ['getPet: answers 200', 'a crash', spoil(/^GET \/pets\/-?\d+ 200$/, fail)],
  ['getPet: answers 200', 'no Deprecation', spoil(/^GET \/pets\/\d+ 200/, remove('deprecation'))],
  [
    'getPet: answers 404 to an unknown id',
    'another Sunset',
    spoil(/^GET \/pets\/-?\d{15,} 404/, set('sunset', 'Wed, 01 Dec 2032 00:00:00 GMT')),
  ],
  [
    'getPet: answers 404 to an unknown id',
    'another Link',
    spoil(/^GET \/pets\/-?\d{15,} 404/, set('link', '<https://a.example>; rel="deprecation"')),
  ],
  [
    'the gateway: answers 404 to an unknown path',
    'another code',
    spoil(/smoke 404/, replace('not_found', 'forbidden')),
  ],
  [
    'the gateway: answers 404 to an unknown path',
    'an unknown header',
    spoil(/smoke 404/, set('x-powered-by', 'Express')),
  ],
  [wholeList, 'an entry is missing', spoil(/^GET \/inventory 200/, replace(firstEntry, ''))],
  [wholeList, 'no end', spoil(/^GET \/inventory 200/, replace(/,\{[^{]*$/, ''))],
  [wholeList, 'a crash', spoil(/^GET \/inventory 200/, fail)],
  [wholeList, 'an unknown header', spoil(/^GET \/inventory 200/, set('x-powered-by', 'Express'))],
];

/** In each, every row has at most one fault; without the first list, the rows behind it would be skipped. */
const batches: Planted[][] = [];
for (const planted of plantedFaults) {
  const isAlone = planted[0] === 'listInventory: answers 200';
  const batch = batches.find(
    (one) =>
      !isAlone && one.every(([row]) => row !== planted[0] && row !== 'listInventory: answers 200'),
  );
  if (batch) batch.push(planted);
  else batches.push([planted]);
}

describe('a stage with faults', () => {
  let target: ConformanceTarget;
  let front: Front;

  beforeAll(async () => {
    const inventory = fixtures.inventory.slice(0, 9);
    target = await openLocalTarget({ data: { ...fixtures, inventory } });
    front = await startFront(target.baseUrl);
  });

  afterAll(async () => {
    front?.[Symbol.dispose]();
    await target?.close();
  });

  async function run(faults: readonly Fault[]) {
    front.faults = faults;
    front.exchanges.length = 0;
    return smoke({ baseUrl: front.baseUrl, apiKey: target.apiKey, entry, origin });
  }

  it('passes without them, and there is one for each row', async () => {
    const { passed, rowsThat } = await run([]);
    expect(passed).toBe(true);
    expect(new Set(plantedFaults.map(([row]) => row))).toEqual(new Set(rowsThat('passed')));
  });

  it.each(batches.map((batch, index) => [index, batch] as const))(
    'fails in their rows alone: batch %i',
    async (_, batch) => {
      const { passed, text, rowsThat } = await run(batch.map(([, , fault]) => fault));
      expect(new Set(rowsThat('failed'))).toEqual(new Set(batch.map(([row]) => row)));
      expect(passed).toBe(false);
      expect(text).not.toContain(target.apiKey.slice(4, 30));
    },
  );

  it('names each cause once, with what was asked and answered', async () => {
    const { failures } = await run([spoil(/^GET/, fail)]);
    expect(failures).toEqual([
      expect.stringMatching(
        /^FAILED {3}listInventory: answers 200: GET \/inventory\?limit=100 answered 500 \{"code":"internal_error".* \(request id [\w-]+\); expected 200\. The same in \d\d more rows\.$/,
      ),
    ]);
  });

  it.each([
    ['without its tag', rewrite('&include=etag', '')],
    ['of another id', spoil(/^GET \/inventory\?petId/, replace('740993', '740992'))],
  ] satisfies [string, Fault][])('writes nothing to an entry %s', async (_, fault) => {
    const { rowsThat } = await run([fault]);
    expect(rowsThat('failed')).toContain(write);
    expect(front.exchanges.filter((one) => /^PATCH .* (200|412)$/.test(one))).toEqual([]);
  });
});

/** A fault that requests something else. */
function rewrite(from: string | RegExp, to: string): Fault {
  return {
    ask(asked) {
      asked.path = asked.path.replace(from, to);
    },
  };
}

/** A fault of the responses whose exchange the pattern matches. */
function spoil(pattern: RegExp, change: (response: FrontResponse) => void): Fault {
  return {
    answer({ method, path }, response) {
      if (pattern.test(`${method} ${path} ${response.status}`)) change(response);
    },
  };
}

function set(name: string, value: string) {
  return ({ headers }: FrontResponse) => {
    headers[name] = value;
  };
}

function remove(name: string) {
  return ({ headers }: FrontResponse) => void delete headers[name];
}

function replace(from: string | RegExp, to: string) {
  return (response: FrontResponse) => {
    response.text = response.text.replace(from, to);
  };
}

function fail(response: FrontResponse): void {
  response.status = 500;
  response.text = crash;
}

/** Lets in whoever names the id of a key that it has seen. */
function trustKeyIds(pattern: RegExp): Fault {
  let known = '';
  return {
    ask({ method, path, headers }) {
      const { authorization = '' } = headers;
      known ||= authorization;
      if (authorization !== '' && pattern.test(`${method} ${path}`)) headers.authorization = known;
    },
  };
}
