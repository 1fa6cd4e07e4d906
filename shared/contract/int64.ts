import * as z from 'zod/mini';

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

const error = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** An int64 in a JSON document read by `parseJson`, where integers past 2^53 arrive as bigint. */
export const int64 = z.pipe(
  z.union([z.int(), z.int64()], { error }),
  z.transform((value: number | bigint) => BigInt(value)),
);

/** The `{petId}` of a path. */
export const petIdParameter = z.pipe(
  z.string(),
  z.transform((text: string, context) => {
    const petId = parseInt64(text);
    if (petId !== undefined) return petId;
    context.issues.push({ code: 'custom', input: text, message: error });
    return z.NEVER;
  }),
);
