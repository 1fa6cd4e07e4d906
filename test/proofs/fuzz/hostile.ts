import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

// Values that break programs, for each part of a request.

/** In every invented credential, in each valid body, and in some paths. No log line may hold it. */
export const secretMark = 'zqSECRETqz';

/** Numbers at the limits of the service, JSON, JavaScript and int64, and texts that look like numbers. */
const numberTexts = [
  ...toWords(`
    0 -0 1 -1 7 100 101 1000 1001 00 01 +1 1.0 0.5 -1.5 - --1 1n 0x10 0b1 1_000 1,000 １２ ٣
    2147483647 2147483648 -2147483649 4294967296 9007199254740991 9007199254740993
    9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809
    1e0 1e3 1E+2 5e-324 1e308 1e400 1e-400 0.99999999999999999999 2147483647.0000000001
    NaN Infinity -Infinity`),
  ...[' 1', '1 ', '1'.repeat(400)],
];

/** Texts that are known to break programs: escapes, encodings, prototypes, forged lines, control and odd characters. */
const nastyTexts = [
  ...toWords(String.raw`
    * " ' \ / // ../.. ..%2f..%2f % %% %zz %u0041 %25 %00 %0a %0d%0a{"forged":true} %c3%28 %ed%a0%80 %ff%fe
    %F0%9F%90%88 + & = ; # ? [] [0] {} {petId} null undefined true __proto__ constructor toString
    {"level":"ERROR"} "}\n{"forged":true} \u0000 {{7*7}} <script>alert(1)</script> $(id)`),
  ...["' OR 1=1 --", `\${jndi:ldap://x}`, 'a'.repeat(300), secretMark, `"${secretMark}`],
  ...['', '\n', '\r\n', '\t', '\u0000', '\u007f', '\r\n{"forged":true}\r\n', '\u001b[31m'],
  ...['\u2028', '\ufeff', '\ud800', '🐈', 'é', 'e\u0301', '\u202e', 'İ', 'ß'],
];

export const text = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...numberTexts) },
  fc.constantFrom(...nastyTexts),
  fc.string({ unit: anyCharacter, maxLength: 10 }),
);

/** Other spellings of query parameters, which are refused, with the right ones. */
export const wrongSpellings: Readonly<Record<string, string>> = {
  LIMIT: 'limit',
  petIds: 'petId',
  pet_id: 'petId',
  'petId[]': 'petId',
};

const queryNames = toWords('limit limit cursor status petId petId include unknown __proto__');
const queryValues = toWords('available sold SOLD etag 1,2 1,1 1, ,');
export const query = fc.oneof(
  fc
    .array(
      fc.tuple(
        fc.constantFrom(...queryNames, ...Object.keys(wrongSpellings), ''),
        fc.oneof(text, fc.constantFrom(...queryValues, '1,2,3'.repeat(60))),
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
  ...['{"quantity":5,"\\u005f_proto__":1}', `{"${secretMark}":"${secretMark}"}`],
  '{"quantity":5,"status":"sold","petId":1,"p":1,"q":1,"v":"x"}',
];

const nested = fc
  .tuple(
    // Rarely more than a parser's stack holds.
    fc.oneof({ weight: 99, arbitrary: fc.constantFrom(2, 100, 1_000) }, fc.constantFrom(100_000)),
    fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[', '']),
  )
  .map(([depth, [open = '', close = '']]) => {
    return `{"quantity":1,"deep":${open.repeat(depth)}1${close.repeat(depth)}}`;
  });

const one = '{"petId":3,"delta":1}';
/** Lists of adjustments that are not valid, or only just. */
const lists = [
  ...['', 'null', '1', '{}', '[]', `${one},${one}`, `[${one}]`, '{"petId":3}', '{"delta":1}'],
  ...[`${one},{"petId":3.0,"delta":2}`, `${one},{"petId":"3","delta":1}`, `${one},`, `${one},null`],
  ...[10, 11, 5_000].map((length) =>
    Array.from({ length }, (_, petId) => `{"petId":${petId},"delta":1}`).join(),
  ),
  '{"petId":3,"delta":1,"delta":2}',
  '{"petId":3,"delta":1,"__proto__":{"delta":9},"d":"7:1"}',
];
const adjustmentBodies = fc
  .oneof(
    fc.constantFrom(...lists),
    fc.constantFrom(...numberTexts).map((number) => `{"petId":3,"delta":${number}}`),
    fc.constantFrom(...numberTexts).map((number) => `{"petId":${number},"delta":-1}`),
  )
  .map((list) => `{"adjustments":[${list}]}`);

const quantities = fc.constantFrom(...numberTexts).map((number) => `{"quantity":${number}}`);
const someBodies: Partial<Record<OperationId, fc.Arbitrary<string>>> = {
  updateInventory: fc.oneof(quantities, quantities, fc.constantFrom(...documents)),
  adjustInventory: adjustmentBodies,
};
const anyBody = fc.oneof(
  ...[nested, fc.json(), text].map((texts) => texts.map((one) => Buffer.from(one))),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(gzipSync('{"quantity":1}'), Buffer.from('{"quantity":1}', 'utf16le'), null),
  fc
    .constantFrom(...toWords('ff c0af c3 eda080 f4908080 00 0a'))
    .map((hex) =>
      Buffer.concat([
        Buffer.from('{"quantity":1,"a":"'),
        Buffer.from(hex, 'hex'),
        Buffer.from('"}'),
      ]),
    ),
);

/** Mostly of the operation's own kind. */
export function arbitraryBody(operationId: OperationId): fc.Arbitrary<Buffer | null> {
  const own = someBodies[operationId]?.map((one) => Buffer.from(one));
  return own ? fc.oneof({ weight: 2, arbitrary: own }, anyBody) : anyBody;
}

const tags = Array.from({ length: 21 }, (_, tag) => `"${tag}"`);
/** By name; a value that stands here twice is drawn twice as often. */
export const headerValues: Readonly<Record<string, readonly string[]>> = {
  Authorization: [
    ...['Bearer <<write0>>', 'bearer <<write0>>', 'BEARER  <<write0>>', `Basic ${secretMark}`],
    ...[`Bearer psk_${secretMark}`, `Bearer <<write0>>${secretMark}`, `Bearer ${secretMark}`],
  ],
  'If-Match': [
    ...['"<<tag>>"', '"<<old>>"', 'W/"<<tag>>"', '"a", "<<tag>>"', '<<tag>>"', '*', '""', '"a"'],
    ...['a', 'W/"a"', ',', '"a",,"b"', '* , "a"', '"a" "b"', '"é"', '"'.repeat(500)],
    ...['"AAAAGQBh"', tags.join(), tags.slice(1).join(), '"a", '.repeat(400)],
  ],
  'If-None-Match': ['"<<tag>>"', 'W/"<<tag>>"', '*', '""', '"', ', ,', `${' '.repeat(2_000)}x`],
  'Idempotency-Key': [
    ...['key-<<batch>>-0', 'key-<<batch>>-1', 'key-<<batch>>-2', '', 'a b', 'é', '"<<batch>>"'],
    ...['<<batch>>'.padEnd(228, 'x'), '<<batch>>'.padEnd(229, 'x')],
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
  constructor: ['x'],
  // Two of them are more than the gateway takes.
  'X-Long': ['x'.repeat(1_000), 'x'.repeat(6_000)],
};

/** Splits at white space: this keeps long lists readable. */
export function toWords(words: string): string[] {
  return words.trim().split(/\s+/);
}
