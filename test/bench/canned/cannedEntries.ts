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

/** An entry as a Scan answers it. */
export function toItemJson({ petId, quantity, status }: CannedEntry): string {
  return `{"p":{"N":"${petId}"},"q":{"N":"${quantity}"},"s":{"S":"${status}"}}`;
}

const statusOf: Record<string, string> = { a: 'available', p: 'pending', s: 'sold' };

/** An entry as the service lists it. */
export function toListedJson({ petId, quantity, status }: CannedEntry): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${statusOf[status]}"}`;
}
