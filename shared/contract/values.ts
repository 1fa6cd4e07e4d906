export const INT64_ERROR = 'must be an integer from -9223372036854775808 to 9223372036854775807';

const canonicalInteger = /^(?:0|-?[1-9]\d{0,18})$/;

/**
 * Parses the canonical decimal text of an int64: no leading zeros, no plus sign, no `-0`, no fraction.
 * Returns `undefined` for any other text, so that one id has exactly one spelling.
 */
export function parseInt64(text: string): bigint | undefined {
  if (!canonicalInteger.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** The largest stock count, 2^31 - 1. */
export const MAX_QUANTITY = 2_147_483_647;

export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

export const PET_STATUS_ERROR = 'must be "available", "pending" or "sold"';
