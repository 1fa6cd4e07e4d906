import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../../../shared/contract/operation.ts';
import {
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { fixtures } from '../../../conformance/fixtures.ts';
import { openLocalTarget } from '../../../conformance/localTarget.ts';
import type { ConformanceTarget } from '../../../conformance/target.ts';
import { type Fault, type Front, type FrontResponse, smoke, startFront } from './front.ts';

const entry = '9007199254740993';
const origin = 'https://www.petstore.example';
const crash = '{"code":"internal_error","message":"Something went wrong.","status":500}';
const firstEntry = new RegExp(`\\{"petId":${fixtures.inventory[0]?.petId},[^}]*\\},`);
const write = 'updateInventory: writes the count of --entry back under its tag, once';
const wholeList = 'the whole list: is whole, and has the entries of the first page';

/** By row: the faults that it fails on. */
type Planted = Readonly<Record<string, Readonly<Record<string, Fault>>>>;

/** For what follows from the contract, of whichever operations there are. */
const contractFaults: Planted = Object.assign({}, ...operationIds.map(plantInOperation));

function plantInOperation(id: OperationId): Planted {
  const { method, path, permission, errors, query = {} }: Operation = operations[id];
  const pattern = path.replace(/\{\w+\}/, '-?\\d+');
  const success = new RegExp(`^${method} ${pattern}${'limit' in query ? '\\?limit=100' : ''} 200$`);
  const missing = new RegExp(`^${method} ${pattern.replace('+', '{15,}')} 404$`);
  const unauthorized = new RegExp(`^${method} ${pattern}\\b.* 401$`);
  const preflight = new RegExp(`^OPTIONS ${pattern}\\b`);
  return {
    ...(permission === 'read' && {
      [`${id}: answers 200`]: { 'a crash': spoil(success, fail) },
    }),
    ...('limit' in query && {
      [`${id}: refuses limit=smoke`]: {
        'no refusal': rewrite(`${path}?limit=smoke`, `${path}?limit=1`),
        'no Error': spoil(new RegExp(`${path}\\?limit=s`), replace('code', 'a')),
      },
    }),
    ...(errors.includes('not_found') && {
      [`${id}: answers 404 to an unknown id${permission === 'write' ? ', or 403 to a read key' : ''}`]:
        { 'a crash': spoil(missing, fail), 'another code': spoil(missing, replace('not_', '')) },
    }),
    [`${id}: refuses no key, and the key with another secret`]: {
      'no challenge': spoil(unauthorized, remove('www-authenticate')),
      'no error in it': spoil(unauthorized, set('www-authenticate', 'Bearer realm="petstore"')),
      'a secret that nobody checks': trustKeyIds(new RegExp(`^${method} ${pattern}\\b`)),
    },
    [`${id}: lets pages of an allowed origin call it: the preflight needs no key`]: {
      'another method': spoil(preflight, set('access-control-allow-methods', 'POST')),
      'no header': spoil(preflight, set('access-control-allow-headers', 'Accept')),
      'another origin': spoil(preflight, set('access-control-allow-origin', 'https://a.example')),
      'no X-Request-Id': spoil(preflight, remove('x-request-id')),
    },
    [`the gateway: answers 405 to DELETE ${path}, and says what is allowed`]: {
      'a wrong Allow': spoil(new RegExp(`^DELETE ${pattern} `), set('allow', 'DELETE')),
    },
  };
}

const otherFaults: Planted = {
  'listInventory: gives each entry its tag with include=etag': {
    'no tags': rewrite(/(,.*)include=etag/, '$1'),
  },
  [write]: {
    'If-Match is ignored': { ask: ({ headers }) => void delete headers['if-match'] },
    'Idempotency-Key is ignored': { ask: ({ headers }) => void delete headers['idempotency-key'] },
    'another count': spoil(/^PATCH .* 200$/, replace(/"quantity":\d+/, '"quantity":77')),
    'another tag': spoil(/^PATCH .* 200$/, set('etag', '"other"')),
    'a weak tag': spoil(/^PATCH .* 200$/, set('etag', 'W/"weak"')),
    'the tag as before': {
      answer({ method, headers }, response) {
        if (method === 'PATCH' && response.headers.etag)
          response.headers.etag = headers['if-match'];
      },
    },
    '412 without the tag of now': spoil(/^PATCH .* 412$/, set('etag', '"other"')),
    'a list as before': repeatFirst(/^GET \/inventory\?petId=\d+&/),
  },
  'the gateway: answers 404 to an unknown path': {
    'another code': spoil(/smoke 404/, replace('not_found', 'forbidden')),
    'an unknown header': spoil(/smoke 404/, set('x-powered-by', 'Express')),
  },
  [wholeList]: {
    'an entry is missing': spoil(/^GET \/inventory 200/, replace(firstEntry, '')),
    'no end': spoil(/^GET \/inventory 200/, replace(/,\{[^{]*$/, '')),
    'a crash': spoil(/^GET \/inventory 200/, fail),
    // The front passes it on uncompressed.
    'fifty entries': spoil(/^GET \/inventory 200/, lengthen(50)),
    'an unknown header': spoil(/^GET \/inventory 200/, set('x-powered-by', 'Express')),
  },
};

const faults: Planted = { ...contractFaults, ...otherFaults };

/** In each, every row has at most one fault; a list's is alone, since rows behind it need the list. */
type Batch = readonly (readonly [row: string, fault: Fault])[];
const alone: Batch[] = [];
const shared: Batch[] = [];
for (const [row, variants] of Object.entries(faults)) {
  const isList = operationIds.some(
    (id) => row === `${id}: answers 200` && !operations[id].path.includes('{'),
  );
  for (const [index, fault] of Object.values(variants).entries()) {
    if (isList) alone.push([[row, fault]]);
    else shared[index] = [...(shared[index] ?? []), [row, fault]];
  }
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

  async function run(planted: readonly Fault[]) {
    front.faults = planted;
    front.exchanges.length = 0;
    return smoke({ baseUrl: front.baseUrl, apiKey: target.apiKey, entry, origin });
  }

  it('passes without them, and there is one for each row', async () => {
    const { passed, rowsThat } = await run([]);
    expect(passed).toBe(true);
    expect(new Set(Object.keys(faults))).toEqual(new Set(rowsThat('passed')));
  });

  it.each([...alone, ...shared].map((batch, index) => [index, batch] as const))(
    'fails in their rows alone: batch %i',
    async (_, batch) => {
      const { passed, text, rowsThat } = await run(batch.map(([, fault]) => fault));
      expect(new Set(rowsThat('FAILED'))).toEqual(new Set(batch.map(([row]) => row)));
      expect(passed).toBe(false);
      expect(text).not.toContain(target.apiKey.slice(4, 30));
    },
  );

  it('says what was asked and answered', async () => {
    const { failures } = await run([spoil(/^GET \/inventory\?l/, fail)]);
    expect(failures[0]).toMatch(
      /^FAILED {3}listInventory: answers 200: GET \/inventory\?limit=100 answered 500 \{"code":"internal_error".* \(request id [\w-]+\); expected 200\.$/,
    );
  });

  it('passes a short list uncompressed', async () => {
    const { rowsThat } = await run([spoil(/^GET \/inventory 200/, lengthen(49))]);
    expect(rowsThat('FAILED')).toEqual([]);
  });

  it.each([
    ['without its tag', rewrite('&include=etag', '')],
    ['of another id', spoil(/^GET \/inventory\?petId/, replace('740993', '740992'))],
  ] satisfies [string, Fault][])('writes nothing to an entry %s', async (_, fault) => {
    const { rowsThat } = await run([fault]);
    expect(rowsThat('FAILED')).toContain(write);
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

/** Gives a list more entries, up to a number. */
function lengthen(length: number) {
  return (response: FrontResponse) => {
    const list = JSON.parse(response.text) as unknown[];
    const more = ',{"petId":7,"quantity":1,"status":"sold"}'.repeat(length - list.length);
    response.text = response.text.replace(/]$/, `${more}]`);
  };
}

/** Answers each request as the first one. */
function repeatFirst(pattern: RegExp): Fault {
  let first = '';
  return spoil(pattern, (response) => {
    first ||= response.text;
    response.text = first;
  });
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
