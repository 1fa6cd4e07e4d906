import { getPet } from '../shared/contract/operations/getPet.ts';
import { UNUSED_ID } from '../shared/contract/values.ts';
import { defineHandler } from '../shared/http/defineHandler.ts';
import { defineWarmUp } from '../shared/http/warmUp.ts';
import { readVariable } from '../shared/runtime/environment.ts';
import { openService } from '../shared/runtime/service.ts';
import { defineDocuments } from '../shared/store/documents.ts';
import { definePetStore } from '../shared/store/petStore.ts';

const service = openService();
const pets = definePetStore(defineDocuments(service.client), readVariable('PETS_TABLE'));

/** GET /pets/{petId}: one pet. Deprecated. */
export const handler = defineHandler(getPet, service, async ({ parameters: { petId } }) => ({
  body: await pets.get(petId),
}));

export const warmUp = defineWarmUp(getPet, handler, { pathParameters: { petId: UNUSED_ID } });
