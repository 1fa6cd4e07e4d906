import type { InventoryItem, Order, Pet } from '../../shared/contract/schemas.ts';
import type { PetStatus } from '../../shared/contract/values.ts';
import { type ExactRequest, type ExactResponse, exactFetch } from '../support/exactFetch.ts';

/** A running service, and the suite's assumptions about it. */
export interface ConformanceTarget {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** A key with write permission. */
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
  readonly origin: string;
  readonly fixtures: Fixtures;
  onResponse?(method: string, path: string, response: ExactResponse): void;
  close(): Promise<void>;
}

/** What a request needs of it. */
type Recipient = Pick<ConformanceTarget, 'baseUrl' | 'apiKey' | 'onResponse'>;

export type Fixtures = typeof fixtures;

/** Returns the running target: tests get their names before it runs. */
export type TargetSource = () => ConformanceTarget;

export interface Sending extends ExactRequest {
  /** Replaces the target's key; `null` sends no `Authorization`. */
  readonly apiKey?: string | null;
}

/** Sends a request with the target's key; `path` is relative to the base URL. */
export async function send(
  target: Recipient,
  method: string,
  path: string,
  { apiKey = target.apiKey, headers, body }: Sending = {},
): Promise<ExactResponse> {
  const credentials: Record<string, string> =
    apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` };
  const response = await exactFetch(`${target.baseUrl}${path}`, {
    method,
    headers: { ...credentials, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  target.onResponse?.(method, path, response);
  return response;
}

export function sendUpdate(
  target: Recipient,
  petId: bigint | string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<ExactResponse> {
  return send(target, 'PATCH', `/inventory/${petId}`, {
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

/** Ids that a JavaScript number would round, with the ends of int64. */
export const exactPetIds = [
  -9223372036854775808n,
  -9007199254740993n,
  9007199254740993n,
  9223372036854775806n,
  9223372036854775807n,
] as const;

const statuses: readonly PetStatus[] = ['available', 'pending', 'sold'];
const ordinaryPetIds = Array.from({ length: 40 }, (_, index) => BigInt(index - 1));

const inventory: InventoryItem[] = [...exactPetIds, ...ordinaryPetIds].map((petId, index) => ({
  petId,
  quantity: index % 7 === 0 ? 2_147_483_647 : index % 5,
  status: statuses[index % 3] ?? 'sold',
}));

const pets: Pet[] = [
  {
    id: 1n,
    name: 'Žofie “the cat” 猫 🐈',
    status: 'available',
    category: { id: 9223372036854775807n, name: 'Cats' },
    photoUrls: ['https://images.petstore.example/1.jpg?size=large'],
    tags: [
      { id: -9223372036854775808n, name: '' },
      { id: 9007199254740993n, name: '</script>' },
    ],
  },
  { id: 2n, name: 'Rex', status: 'sold', photoUrls: [], tags: [] },
  ...exactPetIds.map((id): Pet => ({ id, name: `Pet ${id}`, status: 'pending' })),
];

// Two orders at one instant, and instants that sort otherwise as texts.
const orders: Order[] = [
  order(9223372036854775807n, '2026-11-03T09:00:00Z'),
  { ...order(3n, '2026-11-03T09:00:00Z'), shipDate: '2026-11-05T08:30:00Z', complete: true },
  order(-9223372036854775808n, '2026-11-02T23:30:00-05:00'),
  order(5n, '2026-11-03T01:00:00+02:00'),
  order(9007199254740993n, '2026-11-01T09:30:00.500Z'),
  order(7n, '2026-11-01T09:30:00Z'),
  { ...order(8n, '2019-02-28T23:59:59Z'), complete: false, status: 'delivered' },
];

function order(id: bigint, placedAt: string): Order {
  return { id, petId: 9007199254740993n, quantity: 1, status: 'placed', placedAt };
}

export const fixtures = {
  inventory,
  pets,
  orders,
  /** The inventory entry that tests may change, and restore. */
  changeablePetId: 9007199254740993n,
  /** An id in neither the inventory nor the pets. */
  missingPetId: 4611686018427387904n,
};
