import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { suites } from '../../conformance/operations/suites.ts';
import {
  allTexts,
  arbitraryEdit,
  numberTexts,
  secretMark,
  toWords,
  visibleTexts,
} from './texts.ts';

/** A request before it becomes an event or bytes on a connection. */
export interface FuzzRequest {
  readonly operationId: OperationId;
  readonly method: string;
  /** Relative to the base address, without the query. */
  readonly path: string;
  /** The path's last part, if it stands for `{petId}`. */
  readonly petId: string | undefined;
  /** Behind the question mark, as the client writes it. */
  readonly query: string;
  /**
   * In the client's order. What only a run knows has a placeholder: `<<write0>>` and `<<read0>>` a valid key
   * by its number, `<<write0:35>>` its first characters, `<<unknown0>>` another stage's key, `<<tag>>` the entry's tag.
   */
  readonly headers: readonly Header[];
  readonly body: Buffer | null;
}

type Header = readonly [name: string, value: string];
type Change = (request: FuzzRequest) => FuzzRequest;

const host: Header = ['Host', '127.0.0.1'];
const pick = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);

const write = fc.nat(3).map((key) => `Bearer <<write${key}>>`);
/** The values of Authorization: mostly one valid key, since most of the service lies behind it. */
const credentials: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 15, arbitrary: write.map((value) => [value]) },
  { weight: 2, arbitrary: fc.nat(3).map((key) => [`Bearer <<read${key}>>`]) },
  pick([]),
  fc.nat(49).map((key) => [`Bearer <<unknown${key}>>`]),
  pick([`Bearer psk_${secretMark}`], [`Basic ${secretMark}`]),
  write.map((value) => [value, `Bearer ${secretMark}`]),
  pick('bearer', 'BEARER', 'Bearer ').map((scheme) => [`${scheme} <<write0>>`]),
  fc
    .tuple(fc.integer({ min: 23, max: 43 }), pick('', 'x', ' ', secretMark))
    .map(([length, end]) => [`Bearer <<write0:${length}>>${end}`]),
  arbitraryEdit([secretMark, '', ' ', 'é']).map((edit) => [edit(`Bearer ${secretMark}`)]),
);

const queries: Partial<Record<OperationId, readonly string[]>> = {
  // A list of all entries costs the most by far, and finds the least.
  listInventory: toWords('petId=1,2 petId=3&include=etag limit=2 limit=1&status=sold limit=3 '),
  listOrders: ['limit=2', 'limit=1000', ''],
};

const valid = (petIds: readonly string[]) =>
  fc
    .tuple(
      pick<OperationId>(...operationIds, 'updateInventory', 'updateInventory'),
      pick(...petIds),
      credentials,
      fc.nat(2 ** 31 - 1),
    )
    .map(([operationId, id, values, quantity]): FuzzRequest => {
      const { method, path } = operations[operationId];
      const petId = path.includes('{petId}') ? id : undefined;
      const { [operationId]: choices = [''] } = queries;
      return {
        operationId,
        method,
        path: path.replace('{petId}', id),
        petId,
        query: choices[quantity % choices.length] ?? '',
        headers: [
          host,
          ...values.map((value): Header => ['Authorization', value]),
          ...(method === 'GET' ? [] : [['Content-Type', 'application/json'] as const]),
        ],
        body: method === 'GET' ? null : Buffer.from(`{"quantity":${quantity}}`),
      };
    });

/** The examples of the interface's document. */
const example = pick(
  ...operationIds.flatMap((operationId) =>
    Object.values(suites[operationId].examples).map((one): FuzzRequest => {
      const [path = '', query = ''] = one.path.split('?');
      const key = { none: undefined, invalid: secretMark, read: '<<read0>>', write: '<<write0>>' }[
        one.key ?? 'write'
      ];
      return {
        operationId,
        method: operations[operationId].method,
        path,
        petId: operations[operationId].path.includes('{petId}')
          ? path.split('/').at(-1)
          : undefined,
        query,
        headers: [
          host,
          ...(key ? [['Authorization', `Bearer ${key}`] as const] : []),
          ...Object.entries(one.headers ?? {}),
        ],
        body: one.body === undefined ? null : Buffer.from(JSON.stringify(one.body)),
      };
    }),
  ),
);

const petIdChange = fc
  .oneof(
    pick(...numberTexts).map((id) => () => id),
    arbitraryEdit([...numberTexts, ...visibleTexts]),
  )
  .map(
    (edit): Change =>
      ({ petId, path, ...request }) => {
        if (petId === undefined) return { ...request, petId, path };
        const changed = edit(petId);
        return {
          ...request,
          petId: changed,
          path: `${path.slice(0, path.lastIndexOf('/'))}/${changed}`,
        };
      },
  );

const queryNames = [...toWords('limit cursor status petId include unknown LIMIT __proto__'), ''];
const queryValues = toWords('available pending sold SOLD etag 1,2 1,1 1, ,');
const queryChange = fc
  .oneof(
    arbitraryEdit(visibleTexts),
    fc
      .tuple(
        pick(...queryNames),
        pick(...queryValues, '1,2,3'.repeat(60), ...numberTexts, ...visibleTexts),
      )
      .map(
        ([name, value]) =>
          (query: string) =>
            `${query}&${name}=${value}`,
      ),
  )
  .map(
    (edit): Change =>
      (request) => ({ ...request, query: edit(request.query) }),
  );

const methods = toWords('GET POST PUT PATCH DELETE HEAD OPTIONS TRACE PURGE get FOO');
const targetChange = fc.oneof(
  {
    weight: 3,
    arbitrary: pick(...methods).map(
      (method): Change =>
        (one) => ({ ...one, method }),
    ),
  },
  {
    weight: 7,
    arbitrary: arbitraryEdit(visibleTexts).map(
      (edit): Change =>
        (one) => ({ ...one, path: edit(one.path) }),
    ),
  },
);

const strangeQuantities = [null, true, '', '5', [], [5], {}, { quantity: 5 }, secretMark];
const documents = [
  ...['', ' ', '\n', 'null', 'true', '5', '"quantity"', '[]', '{}', '[{"quantity":5}]'],
  ...['{"Quantity":5}', '{"quantity":5}{"quantity":6}', '{"quantity":5,}', "{'quantity':5}"],
  ...['{quantity:5}', '/**/{"quantity":5}', '{"quantity":5,"quantity":-1}', 'quantity=5'],
  ...['{"quantity":-1,"quantity":5}', '{"quan\\u0074ity":5}', '{"quantity":5}\u0000'],
  ...['{"__proto__":{"quantity":5}}', '{"quantity":5,"__proto__":null}', '<quantity>5</quantity>'],
  ...['{"quantity":5,"a":{"constructor":{"prototype":1}}}', '{"quantity":5,"constructor":1}'],
  ...['{"quantity":5,"\\u005f_proto__":1}', '{"quantity":5,"a":"\\ud800"}'],
  '{"quantity":5,"status":"sold","petId":1,"p":1,"q":1,"v":"x"}',
];
/** Bytes that are invalid UTF-8: stray, overlong and cut ones, and surrogates. */
const invalidUtf8 = fc
  .array(pick(...toWords('ff fe 80 c0af c3 e282 eda080 f4908080 f8888080 00 0a')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((sequences) => Buffer.from(sequences.join(''), 'hex'));
const nested = fc
  .tuple(
    // Seldom more than a parser's stack holds.
    fc.oneof({ weight: 99, arbitrary: pick(2, 10, 100, 1_000) }, pick(100_000)),
    pick(['[', ']'], ['{"a":', '}'], ['[', ''], ['{"a":', '']),
  )
  .map(([depth, [open = '', close = '']]) => {
    return `{"quantity":1,"deep":${open.repeat(depth)}1${close.repeat(depth)}}`;
  });
const text: fc.Arbitrary<string> = fc.oneof(
  fc.nat(1_000_000).map((quantity) => `{"quantity":${quantity}}`),
  pick(...numberTexts).map((number) => `{"quantity":${number}}`),
  pick(...strangeQuantities).map((quantity) => JSON.stringify({ quantity })),
  fc
    .dictionary(pick(...allTexts), pick(...allTexts), { maxKeys: 5 })
    .map((members) => JSON.stringify({ ...members, quantity: 5 })),
  pick(...documents),
  nested,
  pick(`{"note":"${secretMark}","quantity":1}`),
  arbitraryEdit(allTexts).map((edit) => edit('{"quantity":12}')),
);
const body: fc.Arbitrary<Buffer | null> = fc.oneof(
  { weight: 9, arbitrary: text.map((one) => Buffer.from(one)) },
  pick<BufferEncoding>('utf8', 'utf16le').map((encoding) =>
    Buffer.from('\ufeff{"quantity":1}', encoding),
  ),
  invalidUtf8,
  invalidUtf8.map((bytes) =>
    Buffer.from(`{"quantity":1,"a":"${bytes.toString('latin1')}"}`, 'latin1'),
  ),
  pick(gzipSync('{"quantity":1}'), deflateSync('{"quantity":1}'), null),
);
const bodyChange = body.map(
  (changed): Change =>
    (request) => ({ ...request, body: changed }),
);

const tags = Array.from({ length: 21 }, (_, tag) => `"${tag}"`);
/** By name; each value as often as it stands here. */
const headerValues: Readonly<Record<string, readonly string[]>> = {
  'If-Match': [
    ...['"<<tag>>"', 'W/"<<tag>>"', '"a", "<<tag>>"', '"<<tag>>",', '<<tag>>"', '*', '""', '"a"'],
    ...['a', 'W/"a"', 'w/"a"', ',', '"a",,"b"', '* , "a"', '"a" "b"', '"é"', '"'.repeat(500)],
    ...['"<<tag>>"', '"AAAAGQBh"', tags.join(), tags.slice(1).join(), '"a", '.repeat(2_000)],
  ],
  'If-None-Match': [
    ...['"<<tag>>"', 'W/"<<tag>>"', '"a", "<<tag>>"', '*', '""', 'W/"x"', '"', ', ,', 'W/'],
    `${' '.repeat(5_000)}x`,
  ],
  'Idempotency-Key': [
    ...Array.from({ length: 9 }, (_, key) => `key-${key}`),
    ...['', 'a', 'same', 'a b', 'é', '"quoted"', 'x'.repeat(255), 'x'.repeat(256)],
  ],
  'Content-Type': [
    ...['', 'application/json, text/plain', 'APPLICATION/JSON; charset=utf-8'],
    ...['application/json; charset=utf-16', 'multipart/form-data; boundary=x'],
    ...toWords('application/json application/vnd.api+json text/plain json ; / */* image/png'),
    ...toWords('application/x-www-form-urlencoded application/xml'),
  ],
  'Content-Encoding': ['', ...toWords('gzip deflate br zstd identity x')],
  'Accept-Encoding': [
    ...toWords('gzip zstd gzip;q=0 *;q=0 identity;q=0 gzip;q= gzip;q=1.0001 ; ,'),
    'br, gzip;q=0.5, *',
  ],
  Accept: ['', ...toWords('*/* text/html application/xml x')],
  Origin: ['', ...toWords('null * https://evil.example https://www.petstore.example')],
  'X-Request-Id': ['', 'a', 'a b', 'é', '..', '{"forged":1}', 'x'.repeat(64), 'x'.repeat(65)],
  'User-Agent': ['', 'x'.repeat(2_000), '"}{"level":"ERROR"}', `\${jndi:ldap://x}`],
  'X-HTTP-Method-Override': ['PATCH', 'DELETE'],
  'X-Forwarded-For': ['127.0.0.1', '"'],
  Range: ['bytes=0-0', 'bytes=-1'],
  Host: ['', ...toWords('evil.example x:99999 [::1]')],
  Cookie: ['a=b', '=;'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x'],
  __proto__x: ['x'],
  constructor: ['x'],
};
const addition = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(pick(...Object.entries(headerValues)), fc.nat(999))
      .map(([[name, values], at]): Header => [name, values[at % values.length] ?? '']),
  },
  fc
    .tuple(fc.nat(49), pick(10, 1_000, 9_000, 11_000))
    .map(([number, length]): Header => [`X-${number}`, 'x'.repeat(length)]),
);
const letterCase = fc.nat(2 ** 16 - 1).map((bits) => (name: string) => {
  const isUpper = (at: number) => (bits >> (at % 16)) % 2 === 1;
  return [...name]
    .map((letter, at) => (isUpper(at) ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
});
const headerChange = fc
  .tuple(
    fc.nat(8),
    fc.nat(999),
    addition,
    letterCase,
    pick('', ' ', '\t', ', ', ',,'),
    arbitraryEdit(visibleTexts),
  )
  .map(
    ([kind, place, added, toCase, blank, edit]): Change =>
      (request) => {
        const headers = [...request.headers];
        const at = place % Math.max(headers.length, 1);
        const [name = 'X', value = ''] = headers[at] ?? [];
        // Invented credentials keep their mark.
        const isSecret = name.toLowerCase() === 'authorization';
        if (kind === 0) headers[at] = [toCase(name), value];
        else if (kind === 1) headers.push([toCase(name), value]);
        else if (kind === 2) headers.splice(at, 1);
        else if (kind === 3 && !isSecret) headers[at] = [name, blank];
        else if (kind === 4 && !isSecret) headers[at] = [name, edit(value)];
        else headers.push([kind % 2 === 0 ? toCase(added[0]) : added[0], added[1]]);
        return { ...request, headers };
      },
  );

/** Valid requests and the document's examples, with up to four changes. */
export function arbitraryRequest(petIds: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const change = fc.oneof(petIdChange, queryChange, targetChange, bodyChange, {
    weight: 2,
    arbitrary: headerChange,
  });
  return fc
    .tuple(
      fc.oneof({ weight: 7, arbitrary: valid(petIds) }, { weight: 3, arbitrary: example }),
      fc.array(change, { maxLength: 4 }),
    )
    .map(([start, changes]) => changes.reduce((request, apply) => apply(request), start));
}
