import type { Call } from './call.ts';
import { type Pet, toPet, toPetIdText } from './resources.ts';
import { send } from './send.ts';
import type { CallOptions } from './settings.ts';

/** The methods that the pets have. */
export interface PetMethods {
  /** @deprecated A warning says after when the operation may be gone, and where to read on. */
  getPet(petId: bigint, options?: CallOptions): Promise<Pet>;
}

export function definePetMethods(start: (options?: CallOptions) => Call): PetMethods {
  return {
    async getPet(petId, options) {
      return send(
        start(options),
        {
          operationId: 'getPet',
          method: 'GET',
          path: `/pets/${toPetIdText(petId)}`,
          isRepeatable: true,
        },
        ({ document }) => toPet(document),
      );
    },
  };
}
