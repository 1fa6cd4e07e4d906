import type { Parameter } from './parameter.ts';

export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

export const PET_STATUS_ERROR = 'must be "available", "pending" or "sold"';

export const petStatusParameter: Parameter<PetStatus> = {
  parse: (text) => petStatuses.find((status) => status === text),
  error: PET_STATUS_ERROR,
};
