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

/** An invented id: no pet, entry or order has it. */
export const UNUSED_ID = '-8070450532247928833';

/** The largest stock count, 2^31 - 1. */
export const MAX_QUANTITY = 2_147_483_647;

export function quantityError(min: number): string {
  return `must be an integer from ${min} to ${MAX_QUANTITY}`;
}

export const DELTA_ERROR = `must be an integer from -${MAX_QUANTITY} to ${MAX_QUANTITY}, but not 0`;

/** Maximum adjustments of one request. */
export const MAX_ADJUSTMENTS = 10;

export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

export const PET_STATUS_ERROR = 'must be "available", "pending" or "sold"';

export const orderStatuses = ['placed', 'approved', 'delivered'] as const;

export const ORDER_STATUS_ERROR = 'must be "placed", "approved" or "delivered"';

export const TEXT_ERROR = 'must be a string';

export const DATE_TIME_ERROR = 'must be an RFC 3339 date-time, such as "2026-11-01T09:30:00Z"';

export const BOOLEAN_ERROR = 'must be true or false';
