import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

/** A request before it becomes an event or bytes on a connection. */
export interface FuzzRequest {
  readonly operationId: OperationId;
  readonly method: string;
  readonly path: string;
  readonly petId: string | undefined;
  /** After the question mark, as the client writes it. */
  readonly query: string;
  /**
   * In the client's order. Values that only a run knows are placeholders: `<<write0>>` and `<<read0>>` for a valid
   * key by number, `<<unknown0>>` for another stage's key, `<<tag>>` for the entry's tag,
   * and `<<batch>>` for a text that no other batch has.
   */
  readonly headers: readonly Header[];
  readonly body: Buffer | null;
}

type Header = readonly [name: string, value: string];

/** In every invented credential, and in some paths and bodies. No log line may hold it. */
export const secretMark = 'zqSECRETqz';

export const pick = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);

/** Mostly nothing; a failure shrinks to nothing. */
export function rarely<Value>(
  arbitrary: fc.Arbitrary<Value>,
  weight = 6,
): fc.Arbitrary<Value | undefined> {
  const nothing = { arbitrary: fc.constant(undefined), weight };
  return fc.oneof({ withCrossShrink: true }, nothing, { arbitrary, weight: 1 });
}

/** Numbers at the limits of the service, JSON, JavaScript and int64, and texts that look like numbers. */
const numberTexts = [
  ...toWords(`
    0 -0 1 -1 7 100 101 1000 1001 00 01 +1 1.0 0.5 -1.5 - --1 1n 0x10 0b1 1_000 1,000 １２ ٣
    2147483647 2147483648 -2147483649 4294967296 9007199254740991 9007199254740993
    9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809
    1e0 1e3 1E+2 5e-324 1e308 1e400 1e-400 0.99999999999999999999 NaN Infinity -Infinity`),
  ...[' 1', '1 ', '1'.repeat(400)],
];

/** Texts that are known to break programs: escapes, encodings, prototypes, forged lines, control and odd characters. */
const nastyTexts = [
  ...toWords(String.raw`
    * " ' \ / // ../.. ..%2f..%2f % %% %zz %u0041 %25 %00 %0a %0d%0a{"forged":true} %c3%28 %ed%a0%80 %ff%fe
    %F0%9F%90%88 + & = ; # ? [] [0] {} {petId} null undefined true __proto__ constructor toString
    {"level":"ERROR"} "}\n{"forged":true} \u0000 {{7*7}} <script>alert(1)</script> $(id)`),
  ...["' OR 1=1 --", `\${jndi:ldap://x}`, 'a'.repeat(300)],
  ...['', '\n', '\r\n', '\t', '\u0000', '\u007f'],
  ...['\r\n{"forged":true}\r\n', '\n{"level":"INFO","message":{"status":200}}\n', '\u001b[31m'],
  ...['\u2028', '\ufeff', '\ud800', '🐈', 'é', 'e\u0301', '\u202e', 'İ', 'ß'],
];

export const text = fc.oneof(
  pick(...numberTexts),
  pick(...nastyTexts),
  fc.string({ unit: anyCharacter, maxLength: 10 }),
);

const pathText = fc.oneof({ weight: 9, arbitrary: text }, pick(secretMark, `"${secretMark}`));

const write = fc.nat(3).map((key) => `Bearer <<write${key}>>`);
/** The values of Authorization: mostly one valid key, since most of the service needs one. */
const credentials: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 15, arbitrary: write.map((value) => [value]) },
  { weight: 2, arbitrary: pick(['Bearer <<read0>>']) },
  fc.nat(49).map((key) => [`Bearer <<unknown${key}>>`]),
  pick(
    [],
    [`Bearer psk_${secretMark}`],
    [`Basic ${secretMark}`],
    [`Bearer <<write0>>${secretMark}`],
  ),
  pick(
    ['bearer <<write0>>'],
    ['BEARER  <<write0>>'],
    ['Bearer <<write0>>', `Bearer ${secretMark}`],
  ),
  text.map((end) => [`Bearer ${secretMark}${end}`]),
);

const queries: Partial<Record<OperationId, readonly string[]>> = {
  // A list of all entries costs by far the most, and finds the least.
  listInventory: toWords('petId=1,2 petId=3&include=etag limit=2 limit=1&status=sold limit=3'),
  listOrders: ['limit=2', 'limit=1000', ''],
};

function arbitraryValid(petIds: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const writes = ['updateInventory', 'updateInventory', 'adjustInventory'] as const;
  return fc.oneof(...[...operationIds, ...writes].map((id) => toValid(id, petIds)));
}

function toValid(operationId: OperationId, petIds: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const { method, path } = operations[operationId];
  const update = fc.nat().map((quantity) => ({ body: `{"quantity":${quantity}}`, headers: [] }));
  const write = operationId === 'adjustInventory' ? arbitrarySale(petIds) : update;
  return fc
    .record({
      petId: pick(...petIds),
      query: pick(...(queries[operationId] ?? [''])),
      credentials,
      write: method === 'GET' ? fc.constant(undefined) : write,
    })
    .map(({ petId, query, credentials, write }) => ({
      operationId,
      method,
      path: path.replace('{petId}', petId),
      petId: path.includes('{petId}') ? petId : undefined,
      query,
      headers: [
        ['Host', '127.0.0.1'],
        ...credentials.map((value): Header => ['Authorization', value]),
        ...(write ? [['Content-Type', 'application/json'] as const, ...write.headers] : []),
      ],
      body: write ? Buffer.from(write.body) : null,
    }));
}

interface Write {
  readonly headers: readonly Header[];
  readonly body: string;
}

/** Half are under a new key. A quarter are one of 16 requests again, and a quarter reuse one of their keys. */
function arbitrarySale(petIds: readonly string[]): fc.Arbitrary<Write> {
  const line = fc.record({ petId: pick(...petIds), delta: pick(-1, -2, 1, -7, 3) });
  const cart = fc
    .uniqueArray(line, { minLength: 1, maxLength: 3, selector: ({ petId }) => petId })
    .map((lines) => lines.map(({ petId, delta }) => `{"petId":${petId},"delta":${delta}}`));
  const known = fc.sample(cart, { seed: 1, numRuns: 16 });
  const knownKey = fc.nat(known.length - 1);
  const toWrite = (key: string, lines: readonly string[] = []): Write => ({
    headers: [['Idempotency-Key', key]],
    body: `{"adjustments":[${lines}]}`,
  });
  return fc.oneof(
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.nat(), cart)
        .map(([n, lines]) => toWrite(`sale-<<batch>>-${n}`, lines)),
    },
    knownKey.map((n) => toWrite(`sale-${n}`, known[n])),
    fc.tuple(knownKey, cart).map(([n, lines]) => toWrite(`sale-${n}`, lines)),
  );
}

const methods = toWords('GET POST PUT PATCH DELETE HEAD OPTIONS TRACE PURGE FOO');

const query = fc.oneof(
  fc
    .array(
      fc.tuple(
        pick(
          ...toWords(
            'limit cursor status petId include unknown LIMIT petIds pet_id petId[] __proto__',
          ),
          '',
        ),
        fc.oneof(
          text,
          pick(...toWords('available sold SOLD etag 1,2 1,1 1, ,'), '1,2,3'.repeat(60)),
        ),
      ),
      { maxLength: 3 },
    )
    .map((pairs) =>
      pairs.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&'),
    ),
  text,
);

const documents = [
  ...['', ' ', 'null', '5', '"quantity"', '[]', '{}', '[{"quantity":5}]', '{"Quantity":5}'],
  ...['{"quantity":5}{"quantity":6}', '{"quantity":5,}', "{'quantity':5}", '{"quantity":null}'],
  ...['/**/{"quantity":5}', '{"quantity":5,"quantity":-1}', '{"quantity":"5"}', '{"quantity":[5]}'],
  ...['{"quan\\u0074ity":5}', '{"quantity":5}\u0000', '\ufeff{"quantity":1}', 'quantity=5'],
  ...['{"__proto__":{"quantity":5}}', '{"quantity":5,"constructor":1}', '<quantity>5</quantity>'],
  ...['{"quantity":5,"a":{"constructor":{"prototype":1}}}', '{"quantity":5,"a":"\\ud800"}'],
  ...['{"quantity":5,"\\u005f_proto__":1}', `{"note":"${secretMark}","quantity":1}`],
  '{"quantity":5,"status":"sold","petId":1,"p":1,"q":1,"v":"x"}',
];

const nested = fc
  .tuple(
    // Rarely more than a parser's stack holds.
    fc.oneof({ weight: 99, arbitrary: pick(2, 100, 1_000) }, pick(100_000)),
    pick(['[', ']'], ['{"a":', '}'], ['[', '']),
  )
  .map(([depth, [open = '', close = '']]) => {
    return `{"quantity":1,"deep":${open.repeat(depth)}1${close.repeat(depth)}}`;
  });

const one = '{"petId":5,"delta":1}';
/** Lists of adjustments that are not valid, or only just. */
const lists = [
  ...['', 'null', '1', '{}', '[]', `${one},${one}`, `[${one}]`, '{"petId":5}', '{"delta":1}'],
  ...[`${one},{"petId":5.0,"delta":2}`, `${one},{"petId":"5","delta":1}`, `${one},`, `${one},null`],
  ...[10, 11, 5_000].map((length) =>
    Array.from({ length }, (_, petId) => `{"petId":${petId},"delta":1}`).join(),
  ),
  '{"petId":5,"delta":1,"delta":2}',
  '{"petId":5,"delta":1,"__proto__":{"delta":9},"d":"7:1"}',
  `{"petId":5,"delta":-1,"note":"${secretMark}"}`,
];
const adjustmentBodies = fc
  .oneof(
    pick(...lists),
    pick(...numberTexts).map((number) => `{"petId":5,"delta":${number}}`),
    pick(...numberTexts).map((number) => `{"petId":${number},"delta":-1}`),
  )
  .map((list) => `{"adjustments":[${list}]}`);

const body: fc.Arbitrary<Buffer | null> = fc.oneof(
  ...[pick(...numberTexts).map((number) => `{"quantity":${number}}`), pick(...documents), nested]
    .concat(adjustmentBodies, adjustmentBodies, fc.json(), text)
    .map((texts) => texts.map((one) => Buffer.from(one))),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  pick(gzipSync('{"quantity":1}'), Buffer.from('{"quantity":1}', 'utf16le'), null),
  pick(...toWords('ff c0af c3 eda080 f4908080 00 0a')).map((hex) =>
    Buffer.concat([Buffer.from('{"quantity":1,"a":"'), Buffer.from(hex, 'hex'), Buffer.from('"}')]),
  ),
);

const tags = Array.from({ length: 21 }, (_, tag) => `"${tag}"`);
/** By name; a value that stands here twice is drawn twice as often. */
const headerValues: Readonly<Record<string, readonly string[]>> = {
  'If-Match': [
    ...['"<<tag>>"', '"<<tag>>"', 'W/"<<tag>>"', '"a", "<<tag>>"', '<<tag>>"', '*', '""', '"a"'],
    ...['a', 'W/"a"', ',', '"a",,"b"', '* , "a"', '"a" "b"', '"é"', '"'.repeat(500)],
    ...['"AAAAGQBh"', tags.join(), tags.slice(1).join(), '"a", '.repeat(2_000)],
  ],
  'If-None-Match': ['"<<tag>>"', 'W/"<<tag>>"', '*', '""', '"', ', ,', `${' '.repeat(5_000)}x`],
  'Idempotency-Key': [
    ...Array.from({ length: 9 }, (_, key) => `key-${key}`),
    ...['', 'a', 'a b', 'é', '"quoted"', 'x'.repeat(255), 'x'.repeat(256)],
  ],
  'Content-Type': [
    ...['', 'application/json, text/plain', 'APPLICATION/JSON; charset=utf-8'],
    ...['application/json; charset=utf-16', 'multipart/form-data; boundary=x'],
    ...toWords('application/json application/vnd.api+json text/plain ; / */*'),
  ],
  'Content-Encoding': toWords('gzip deflate identity x'),
  'Accept-Encoding': [
    ...toWords('gzip zstd gzip;q=0 *;q=0 identity;q=0 gzip;q= gzip;q=1.0001 ; ,'),
    'br, gzip;q=0.5, *',
  ],
  Accept: ['', ...toWords('*/* text/html x')],
  Origin: ['', ...toWords('null * https://evil.example https://www.petstore.example')],
  'X-Request-Id': ['', 'a b', 'é', '..', '{"forged":1}', 'x'.repeat(64), 'x'.repeat(65)],
  'User-Agent': ['', 'x'.repeat(2_000), '"}{"level":"ERROR"}', `\${jndi:ldap://x}`],
  Host: ['', 'evil.example', 'x:99999'],
  constructor: ['x'],
  'X-Long': ['x'.repeat(1_000), 'x'.repeat(9_000), 'x'.repeat(11_000)],
};

const header: fc.Arbitrary<Header> = fc.oneof(
  {
    weight: 5,
    arbitrary: pick(...Object.entries(headerValues)).chain(([name, values]) =>
      pick(...values).map((value) => [name, value] as const),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(pick(...Object.keys(headerValues)), text) },
);

const changes = fc.record({
  method: rarely(pick(...methods)),
  petId: rarely(pathText),
  inserted: rarely(fc.tuple(fc.nat(40), pathText)),
  query: rarely(query),
  body: rarely(body),
  removedHeader: rarely(fc.nat(3)),
  headers: fc.array(header, { maxLength: 2 }),
  toName: pick<(name: string) => string>(
    (name) => name,
    (name) => name.toLowerCase(),
    (name) => name.toUpperCase(),
  ),
});

/** Valid requests, with some changes. */
export function arbitraryRequest(petIds: readonly string[]): fc.Arbitrary<FuzzRequest> {
  return fc.tuple(arbitraryValid(petIds), changes).map(([{ path, petId, ...request }, change]) => {
    const id = petId === undefined ? undefined : (change.petId ?? petId);
    const named = id === undefined ? path : `${path.slice(0, path.lastIndexOf('/'))}/${id}`;
    const [at = 0, inserted = ''] = change.inserted ?? [];
    const headers = request.headers.toSpliced(change.removedHeader ?? request.headers.length, 1);
    return {
      ...request,
      method: change.method ?? request.method,
      path: `${named.slice(0, at)}${inserted}${named.slice(at)}`,
      petId: id,
      query: change.query ?? request.query,
      headers: [...headers, ...change.headers].map(([name, value]) => [change.toName(name), value]),
      body: change.body === undefined ? request.body : change.body,
    };
  });
}

/** Splits at white space: this keeps long lists readable. */
function toWords(words: string): string[] {
  return words.trim().split(/\s+/);
}
