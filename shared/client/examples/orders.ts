// Elsewhere, this is the package petstore-inventory-client.
import { type PetstoreClient, PetstoreError } from '../index.ts';

/** An order in your database: one piece of each pet. */
export interface Order {
  /** Of no other order: it is the Idempotency-Key. */
  readonly id: string;
  readonly lines: readonly Line[];
  isCancelled?: boolean;
}

export interface Line {
  readonly petId: bigint;
  /** The last update. Sent again, it tells whether it took effect, even if the pet is sold out. */
  sent?: { readonly quantity: number; readonly ifMatch: string };
  isSold?: boolean;
}

type Save = (order: Order) => void | Promise<void>;

/**
 * Sells all pets of an order, or none. After a crash or an error, call it again with the saved
 * order, within 24 hours: each piece is sold once, and put back once.
 * @param save writes the order to your database
 * @returns whether they are sold
 */
export async function sellOrder(
  petstore: PetstoreClient,
  order: Order,
  save: Save,
): Promise<boolean> {
  for (const line of order.lines) {
    if (order.isCancelled || line.isSold) continue;
    line.isSold = await sellPiece(petstore, order, line, save);
    order.isCancelled = !line.isSold;
    await save(order);
  }
  if (!order.isCancelled) return true;
  for (const line of order.lines) {
    if (!line.isSold) continue;
    await putBack(petstore, line.petId, `${order.id}-undo`);
    line.isSold = false;
    await save(order);
  }
  return false;
}

class NotForSale extends Error {}

async function sellPiece(
  petstore: PetstoreClient,
  order: Order,
  line: Line,
  save: Save,
): Promise<boolean> {
  try {
    if (line.sent && (await isApplied(petstore, line.petId, line.sent, order.id))) return true;
    await petstore.updateStock(
      line.petId,
      async ({ status, quantity, etag }) => {
        if (status !== 'available' || quantity === 0) throw new NotForSale();
        line.sent = { quantity: quantity - 1, ifMatch: etag };
        await save(order);
        return quantity - 1;
      },
      { idempotencyKey: order.id },
    );
    return true;
  } catch (error) {
    if (error instanceof NotForSale) return false;
    if (!(error instanceof PetstoreError)) throw error;
    // An earlier call sold it, and ended before it saved that.
    if (error.effect === 'applied') return true;
    if (error.code === 'not_found') return false;
    throw error;
  }
}

/** Sends the last update again. */
async function isApplied(
  petstore: PetstoreClient,
  petId: bigint,
  { quantity, ifMatch }: NonNullable<Line['sent']>,
  idempotencyKey: string,
): Promise<boolean> {
  try {
    await petstore.updateInventory(petId, { quantity }, { ifMatch, idempotencyKey });
    return true;
  } catch (error) {
    if (error instanceof PetstoreError && error.code === 'precondition_failed') return false;
    throw error;
  }
}

/** Puts one piece back, once for each key. */
export async function putBack(
  petstore: PetstoreClient,
  petId: bigint,
  idempotencyKey: string,
): Promise<void> {
  try {
    await petstore.updateStock(petId, ({ quantity }) => quantity + 1, { idempotencyKey });
  } catch (error) {
    if (!(error instanceof PetstoreError && error.effect === 'applied')) throw error;
  }
}
