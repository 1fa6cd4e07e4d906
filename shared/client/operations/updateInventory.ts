import type { MAX_QUANTITY } from '../../contract/schemas/quantity.ts';
import type { Call } from '../http/call.ts';
import { PetstoreError } from '../http/petstoreError.ts';
import { send } from '../http/send.ts';
import { toPetIdText } from './petIdText.ts';
import { toTaggedItem } from './readResources.ts';
import type { InventoryUpdate, TaggedInventoryItem } from './resources.ts';

export interface UpdatePreconditions {
  /** An entry's `etag`, quotes included: when the entry has changed since, nothing is done (412). */
  readonly ifMatch?: string | undefined;
  /**
   * 1 to 255 visible ASCII characters: the same update with the same key has its effect once, within 24
   * hours. With `ifMatch`, the client makes one up for the attempts of a call.
   */
  readonly idempotencyKey?: string | undefined;
}

const LARGEST: typeof MAX_QUANTITY = 2_147_483_647;

/** Without `ifMatch`, the update may be sent again only when the service refused to look at it. */
export async function updateInventory(
  call: Call,
  petId: bigint,
  { quantity }: InventoryUpdate,
  { ifMatch, idempotencyKey = ifMatch && drawKey() }: UpdatePreconditions = {},
): Promise<TaggedInventoryItem> {
  if (!Number.isInteger(quantity) || quantity < 0 || quantity > LARGEST) {
    const message = `quantity must be an integer from 0 to ${LARGEST}, and not ${quantity}.`;
    throw new PetstoreError('invalid_request', message);
  }
  const request = {
    operationId: 'updateInventory',
    petId: toPetIdText(petId),
    headers: {
      'Content-Type': 'application/json',
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    body: JSON.stringify({ quantity }),
    isRepeatable: ifMatch !== undefined,
  } as const;
  return send(call, request, ({ document, headers }) =>
    toTaggedItem({ ...(document as object), etag: headers.get('ETag') }),
  );
}

/** 128 random bits. Not `randomUUID`, which a page that came over plain HTTP does not have. */
function drawKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
