/** The benchmarks' inventory: entry number `index`, the same in every run. */
export interface CannedEntry {
  /** Spread over the whole int64 range as random ids are, 19 digits nearly always, and never twice. */
  readonly petId: string;
  /** 0 to 999. */
  readonly quantity: string;
  /** As it is stored: one letter. */
  readonly status: string;
}

export function toCannedEntry(index: number): CannedEntry {
  return {
    petId: BigInt.asIntN(64, BigInt(index + 1) * ODD).toString(),
    quantity: String((index * 7_919) % 1_000),
    status: 'aps'.charAt(index % 3),
  };
}

/** Multiplying by an odd number permutes the integers of 64 bits; this one scatters neighbours. */
const ODD = 0x9e3779b97f4a7c15n;

/** An entry as the table keeps it. */
export function toCannedItem({ petId, quantity, status }: CannedEntry) {
  return { p: { N: petId }, q: { N: quantity }, s: { S: status } };
}

/** A pet as the table of pets keeps it. */
export const cannedPet = {
  id: { N: '7' },
  name: { S: 'Rex' },
  status: { S: 'available' },
  category: { M: { id: { N: '1' }, name: { S: 'Dogs' } } },
  photoUrls: { L: [{ S: 'https://images.petstore.example/7.jpg' }] },
  tags: { L: [{ M: { id: { N: '3' }, name: { S: 'friendly' } } }] },
};

/** Twenty orders as the table of orders keeps them, newest first. */
export const cannedOrders = Array.from({ length: 20 }, (_, index) => {
  const placedAt = `2026-10-${String(31 - index).padStart(2, '0')}T09:30:00.000Z`;
  const id = 120 - index;
  return {
    ledger: { S: 'orders' },
    placed: { S: `${placedAt}#${(BigInt(id) + 2n ** 63n).toString().padStart(20, '0')}` },
    id: { N: String(id) },
    petId: { N: String(index + 1) },
    quantity: { N: '1' },
    status: { S: 'placed' },
    placedAt: { S: placedAt },
    complete: { BOOL: false },
  };
});

export function toStringItem(record: Record<string, string>): Record<string, { S: string }> {
  return Object.fromEntries(Object.entries(record).map(([name, text]) => [name, { S: text }]));
}
