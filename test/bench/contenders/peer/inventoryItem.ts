/** An inventory entry as the table keeps it; see `shared/store/inventoryRecord.ts`. */
export interface StoredEntry {
  readonly p: number | bigint;
  readonly q: number;
  readonly s: string;
}

const statusOf: Record<string, string> = { a: 'available', p: 'pending', s: 'sold' };

export function toInventoryItem({ p, q, s }: StoredEntry) {
  return { petId: p, quantity: q, status: statusOf[s] };
}
