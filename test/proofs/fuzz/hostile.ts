import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { OperationId } from '../../../shared/contract/operations.ts';
import {
  harmlessBodies,
  hostileTexts,
} from '../../conformance/operations/updateInventoryBodies.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

// Values that break programs, for each part of a request.

export const pick = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);

/** This keeps long lists readable. */
export const toWords = (words: string) => words.trim().split(/\s+/);

/** In every invented credential, in each valid body, and in some paths. No log line may hold it. */
export const secretMark = 'zqSECRETqz';

/** Numbers at the limits of the service, JSON, JavaScript and int64, and texts that look like numbers. */
const numbers = pick(
  ...toWords(`
    0 -0 1 -1 7 100 101 1001 00 01 +1 1.0 0.5 1n 0x10 1_000 1,000 ２ 5e-324 1e0 1e3 1E+2 1e400 1e-400
    2147483647 2147483648 9007199254740991 9007199254740993 9223372036854775807 9223372036854775808
    -9223372036854775808 -9223372036854775809 0.99999999999999999999 2147483647.0000000001 NaN`),
  ...[' 1', '1 ', '1'.repeat(400)],
);

/** Also texts that are known to break programs: escapes, encodings, prototypes, forged lines and odd characters. */
export const text = fc.oneof(
  numbers,
  pick(
    ...toWords(String.raw`
      * " ' \ // ../.. ..%2f % %zz %25 %00 %0d%0a{"forged":true} %c3%28 %ed%a0%80 %F0%9F%90%88 + & = ; # ?
      [0] {petId} null __proto__ constructor {"level":"ERROR"} "}\n{"forged":true} <script>`),
    ...['', '\t', '\u0000', '\r\n{"forged":true}\r\n', '\u001b[31m', '\u2028', '\ud800', '🐈', 'é'],
    ...[secretMark, 'a'.repeat(300)],
  ),
  fc.string({ unit: anyCharacter, maxLength: 10 }),
);

const names = toWords(
  'limit limit cursor status petId petId include unknown __proto__ LIMIT petIds pet_id petId[]',
);
const values = pick(...toWords('available SOLD etag 1,2 1,1 1, ,'), '1,2,3'.repeat(60));
const parameter = fc
  .tuple(pick(...names, ''), fc.oneof(text, values))
  .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`);
const parameters = fc.array(parameter, { maxLength: 3 }).map((pairs) => pairs.join('&'));
export const query = fc.oneof(parameters, parameters, text);

/** Only just valid, or not at all. */
const documents = pick(
  ...[...hostileTexts, ...Object.values(harmlessBodies), '\ufeff{"quantity":1}'],
  ...[`{"${secretMark}":"${secretMark}"}`, '{"quantity":5,"a":"\\ud800"}'],
);
const line = '{"petId":3,"delta":1}';
const toCart = (length: number) =>
  Array.from({ length }, (_, petId) => `{"petId":${petId},"delta":1}`).join();
const carts = fc.oneof(
  pick(
    ...toWords(`
      null {} [${line}] {"petId":3} {"delta":1} ${line},${line} ${line},null
      ${line},{"petId":3.0,"delta":2} {"petId":3,"delta":1,"delta":2}
      {"petId":3,"delta":1,"__proto__":{"delta":9},"d":"7:1"}`),
    ...['', toCart(10), toCart(11), toCart(5_000)],
  ),
  numbers.map((number) => `{"petId":3,"delta":${number}}`),
  numbers.map((number) => `{"petId":${number},"delta":-1}`),
);
const invalidUtf8 = ['ff', 'c0af', 'eda080'].map((hex) =>
  Buffer.concat([Buffer.from('{"quantity":1,"a":"'), Buffer.from(hex, 'hex'), Buffer.from('"}')]),
);
const anyBody = fc.oneof(
  fc.oneof(fc.json(), text, documents).map((body) => Buffer.from(body)),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  pick(gzipSync('{"quantity":1}'), Buffer.from('{"quantity":1}', 'utf16le'), null, ...invalidUtf8),
);
const ownBodies: Partial<Record<OperationId, fc.Arbitrary<string>>> = {
  updateInventory: numbers.map((number) => `{"quantity":${number}}`),
  adjustInventory: carts.map((cart) => `{"adjustments":[${cart}]}`),
};
/** Mostly of the operation's own kind. */
export function arbitraryBody(operationId: OperationId): fc.Arbitrary<Buffer | null> {
  const own = ownBodies[operationId]?.map((body) => Buffer.from(body));
  return own ? fc.oneof({ weight: 2, arbitrary: own }, anyBody) : anyBody;
}

const tags = Array.from({ length: 21 }, (_, tag) => `"${tag}"`);
const headerValues: Readonly<Record<string, readonly string[]>> = {
  Authorization: [
    ...['bearer <<write0>>', 'BEARER  <<write0>>', `Basic ${secretMark}`, `Bearer ${secretMark}`],
    ...[`Bearer psk_${secretMark}`, `Bearer <<write0>>${secretMark}`],
  ],
  'If-Match': [
    ...toWords(`"<<tag>>" "<<old>>" W/"<<tag>>" <<tag>> * "" W/"a" , "a",,"b" "é" "AAAAGQBh"`),
    ...['"a", "<<tag>>"', '* , "a"', '"a" "b"', tags.join(), '"'.repeat(500)],
  ],
  'If-None-Match': ['"<<tag>>"', 'W/"<<tag>>"', '*', '""', '"', ', ,', `${' '.repeat(2_000)}x`],
  'Idempotency-Key': [
    ...['key-<<batch>>-0', 'key-<<batch>>-1', '', 'a b', 'é', '"<<batch>>"'],
    ...['<<batch>>'.padEnd(228, 'x'), '<<batch>>'.padEnd(229, 'x')],
  ],
  'Content-Type': [
    ...['', 'application/json, text/plain', 'APPLICATION/JSON; charset=utf-8'],
    ...[
      'application/json; charset=utf-16',
      ...toWords('application/vnd.api+json text/plain ; */*'),
    ],
  ],
  'Content-Encoding': toWords('gzip identity x'),
  'Accept-Encoding': toWords('gzip zstd gzip;q=0 *;q=0 identity;q=0 gzip;q= gzip;q=1.0001 br,*'),
  Accept: ['', 'text/html'],
  Origin: toWords('null * https://evil.example https://www.petstore.example'),
  'X-Request-Id': ['', 'a b', '..', '{"forged":1}', 'x'.repeat(64), 'x'.repeat(65), '<<write0>>'],
  'User-Agent': ['', 'x'.repeat(2_000), '"}{"level":"ERROR"}'],
  constructor: ['x'],
  // Two of them are more than the gateway takes.
  'X-Long': ['x'.repeat(6_000)],
};
export const header = pick(...Object.entries(headerValues)).chain(([name, values]) =>
  fc
    .oneof({ weight: 5, arbitrary: pick(...values) }, text)
    .map((value): [string, string] => [name, value]),
);
