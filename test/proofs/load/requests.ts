import type { Request } from 'autocannon';

/** Of those in `infra/local/sample.json`, each a pet and an entry of the inventory. */
const petIds = Array.from({ length: 40 }, (_, index) => index + 1);

/** Loads by name, as what each connection sends over and over. */
export const loads = {
  /** A pet by its id. */
  lookups: (apiKey: string) => petIds.map((petId) => toLookup(petId, apiKey)),
  /** Of ten requests seven look up a pet, one lists the inventory, one the orders, and one is an update. */
  mix: (apiKey: string) =>
    petIds.flatMap((petId) => {
      const others = Array.from(
        { length: 7 },
        (_, index) => ((petId + 5 * index) % petIds.length) + 1,
      );
      return [
        toUpdate(petId, apiKey),
        ...others.map((other) => toLookup(other, apiKey)),
        toRead('/inventory', apiKey),
        toRead('/store/orders', apiKey),
      ];
    }),
} satisfies Record<string, (apiKey: string) => Request[]>;

export type LoadName = keyof typeof loads;

function toLookup(petId: number, apiKey: string): Request {
  return toRead(`/pets/${petId}`, apiKey);
}

function toRead(path: string, apiKey: string): Request {
  return { method: 'GET', path: `/v1${path}`, headers: { Authorization: `Bearer ${apiKey}` } };
}

function toUpdate(petId: number, apiKey: string): Request {
  return {
    method: 'PATCH',
    path: `/v1/inventory/${petId}`,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ quantity: petId }),
  };
}
