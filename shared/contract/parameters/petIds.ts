import { defineIdParameter } from './idParameter.ts';

/** The `{petId}` of a pet. */
export const petId = defineIdParameter('petId', 'pet');

/** The `{petId}` of an inventory entry. */
export const entryPetId = defineIdParameter('petId', 'inventory entry');
