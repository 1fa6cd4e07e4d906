import { PET_STATUS_ERROR, type PetStatus, petStatuses } from '../values/petStatus.ts';
import type { Parameter } from './parameter.ts';

export const petStatusParameter: Parameter<PetStatus> = {
  parse: (text) => petStatuses.find((status) => status === text),
  error: PET_STATUS_ERROR,
  description: 'The entries of this status alone.',
  schema: { type: 'string', enum: petStatuses },
};
