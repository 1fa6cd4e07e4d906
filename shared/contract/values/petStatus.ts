export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

/** What a value that is no status is told. */
export const PET_STATUS_ERROR = 'must be "available", "pending" or "sold"';
