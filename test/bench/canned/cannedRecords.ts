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
