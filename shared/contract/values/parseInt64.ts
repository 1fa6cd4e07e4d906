/** What a value that is no int64 is told. */
export const INT64_ERROR = 'must be an integer from -9223372036854775808 to 9223372036854775807';

const canonicalInteger = /^(?:0|-?[1-9]\d{0,18})$/;

/**
 * Reads the canonical decimal text of an int64: no leading zeros, no plus sign, no `-0`, no fraction.
 * Returns `undefined` for anything else, so that one id has exactly one spelling.
 */
export function parseInt64(text: string): bigint | undefined {
  if (!canonicalInteger.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
