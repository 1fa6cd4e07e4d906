// Elsewhere, this is the package petstore-inventory-client.
import { type PetstoreClient, PetstoreError } from '../index.ts';

/** What a customer is answered. */
export interface Sale {
  readonly status: number;
  /** Becomes JSON, in which a page would round a large id that is no string. */
  readonly body: { readonly petId: string; readonly quantity: number } | { readonly error: string };
}

class SoldOut extends Error {}

/** Sells one piece, however many customers want it at once. */
export async function sellPiece(petstore: PetstoreClient, petId: bigint): Promise<Sale> {
  try {
    const { quantity } = await petstore.updateStock(petId, (entry) => {
      if (entry.quantity === 0) throw new SoldOut();
      return entry.quantity - 1;
    });
    return { status: 200, body: { petId: `${petId}`, quantity } };
  } catch (error) {
    if (error instanceof SoldOut) return { status: 409, body: { error: 'It is sold out.' } };
    if (!(error instanceof PetstoreError)) throw error;
    if (error.code === 'not_found') return { status: 404, body: { error: 'We do not sell it.' } };
    console.error(`Not sold: ${error.code}, request ${error.requestId}: ${error.message}`);
    return { status: 503, body: { error: 'We cannot sell right now: please try again.' } };
  }
}

/** The id in an address such as `/sell/7`. */
export function parseSaleAddress(url = ''): bigint | undefined {
  const [, digits] = /^\/sell\/(-?\d{1,19})$/.exec(url) ?? [];
  return digits === undefined ? undefined : BigInt(digits);
}
