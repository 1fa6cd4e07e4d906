import type { Call } from '../http/call.ts';
import type { PetstoreRequest } from '../http/exchange.ts';
import { send } from '../http/send.ts';
import { toPetIdText } from './petIdText.ts';
import { toPet } from './readResources.ts';
import type { Pet } from './resources.ts';

export async function getPet(call: Call, petId: bigint): Promise<Pet> {
  const request: PetstoreRequest<'getPet'> = {
    operationId: 'getPet',
    petId: toPetIdText(petId),
    isRepeatable: true,
  };
  return send(call, request, ({ document }) => toPet(document));
}
