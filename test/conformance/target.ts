import type { InventoryItem, Order, Pet } from '../../shared/contract/schemas.ts';
import { type ExactRequest, type ExactResponse, exactFetch } from '../support/exactFetch.ts';

/** A running service, and the suite's assumptions about it. */
export interface ConformanceTarget {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** A key with write permission. */
  readonly apiKey: string;
  /** A key that allows only reading. */
  readonly readOnlyApiKey: string;
  /** An origin that the stage allows. */
  readonly origin: string;
  readonly fixtures: Fixtures;
  /** Called with each response. */
  onResponse?(method: string, path: string, response: ExactResponse): void;
  close(): Promise<void>;
}

/** All the data of the service. */
export interface Fixtures {
  readonly inventory: readonly InventoryItem[];
  readonly pets: readonly Pet[];
  readonly orders: readonly Order[];
  /** The inventory entry that tests may change, and restore. */
  readonly changeablePetId: bigint;
  /** An id in neither the inventory nor the pets. */
  readonly missingPetId: bigint;
}

/** Returns the running target: tests get their names before it runs. */
export type TargetSource = () => ConformanceTarget;

export interface Sending extends ExactRequest {
  /** Replaces the target's key; `null` sends no `Authorization`. */
  readonly apiKey?: string | null;
}

/** Sends a request with the target's key; `path` is relative to the base address. */
export async function send(
  target: ConformanceTarget,
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

/** Sends an update as JSON. */
export function sendUpdate(
  target: ConformanceTarget,
  petId: bigint | string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<ExactResponse> {
  return send(target, 'PATCH', `/inventory/${petId}`, {
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}
