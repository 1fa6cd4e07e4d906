import fc from 'fast-check';

/** Part of every invented credential and of some bodies: no log line may hold it. Paths are logged, and never have it. */
export const secretMark = 'zqSECRETqz';

/** Numbers at the limits of the service, JSON, JavaScript and int64, and texts that only look like numbers. */
export const numberTexts = [
  ...toWords(`
    0 -0 1 -1 7 100 101 1000 1001 00 01 +1 1.0 0.5 -1.5 - --1 1n 0x10 0b1 1_000 1,000 １２ ٣
    2147483646 2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296
    9007199254740991 9007199254740992 9007199254740993 -9007199254740993
    9223372036854775806 9223372036854775807 9223372036854775808 18446744073709551616
    -9223372036854775807 -9223372036854775808 -9223372036854775809
    1e0 1e3 1E+2 5e-324 1e308 1e400 -1e400 1.7976931348623157e308 NaN Infinity -Infinity`),
  ...[' 1', '1 ', '1'.repeat(400), `0.${'1'.repeat(400)}`],
];

/** Texts that have broken something somewhere, without control characters. */
export const visibleTexts = [
  '',
  ...toWords(String.raw`
    * " ' \ / // ../.. ..%2f..%2f . % %% %zz %u0041 %25 %00 %0a %0d%0a %0d%0a{"forged":true} %c3%28 %ed%a0%80
    %f4%90%80%80 %ff%fe %F0%9F%90%88 %e2%80%a8 + & = == ; # ? ?? [] [0] {} {petId} null undefined true false
    __proto__ constructor prototype toString hasOwnProperty {"level":"ERROR"} "}\n{"forged":true} \u0000 \r\n
    {{7*7}} <script>alert(1)</script> $(id)`),
  ...["' OR 1=1 --", '`id`', '; rm -rf', `\${jndi:ldap://x}`, 'a'.repeat(300)],
];

/** Control characters, line breaks and text past Latin-1, which no header or path can carry as they are. */
export const rawTexts = [
  ...['\n', '\r', '\r\n', '\r\n{"forged":true}\r\n', '\t', '\v', '\u0000', '\u0001', '\u007f'],
  ...['\n{"level":"INFO","message":{"status":200}}\n', '\u001b[31m', '\u2028', '\u2029', '\ufeff'],
  ...['\ud800', '\udc00', '🐈', '猫', 'é', 'e\u0301', '\u202e', 'İ', 'ß', 'ﬁ', '\u0085', '\u00a0'],
];

export const allTexts = [...numberTexts, ...visibleTexts, ...rawTexts];

/** Replaces a text, or changes it in one place. */
export function arbitraryEdit(texts: readonly string[]): fc.Arbitrary<(text: string) => string> {
  return fc
    .tuple(fc.nat(7), fc.nat(9_999), fc.constantFrom(...texts), fc.integer({ min: 33, max: 126 }))
    .map(([kind, place, inserted, code]) => (text) => {
      const at = place % (text.length + 1);
      const [before, after] = [text.slice(0, at), text.slice(at)];
      const edits = [
        () => inserted,
        () => `${before}${inserted}${after}`,
        () => `${before}${after.slice(1 + (place % 3))}`,
        () => `${text}${text}`,
        () => `${before}${percentEncode(after.slice(0, 1))}${after.slice(1)}`,
        () => text.toUpperCase(),
        () => text.toLowerCase(),
        () => `${before}${String.fromCharCode(code)}${after.slice(1)}`,
      ];
      return edits[kind]?.() ?? text;
    });
}

/** Splits at white space, so that a long list is read as one. */
export function toWords(text: string): string[] {
  return text.trim().split(/\s+/);
}

function percentEncode(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
