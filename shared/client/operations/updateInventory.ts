import type { MAX_QUANTITY } from '../../contract/schemas/quantity.ts';
import type { Call } from '../http/call.ts';
import type { PetstoreRequest } from '../http/exchange.ts';
import { PetstoreError } from '../http/petstoreError.ts';
import { send } from '../http/send.ts';
import { toPetIdText } from './petIdText.ts';
import type { UpdatePreconditions } from './queries.ts';
import { toTaggedItem } from './readResources.ts';
import type { InventoryUpdate, TaggedInventoryItem } from './resources.ts';

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
  const request: PetstoreRequest<'updateInventory'> = {
    operationId: 'updateInventory',
    petId: toPetIdText(petId),
    headers: {
      'Content-Type': 'application/json',
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    body: JSON.stringify({ quantity }),
    isRepeatable: ifMatch !== undefined,
  };
  return send(call, request, ({ document, headers }) =>
    toTaggedItem({ ...(document as object), etag: headers.get('ETag') }),
  );
}

/** 128 random bits. Not `randomUUID`, which a page that came over plain HTTP does not have. */
function drawKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
