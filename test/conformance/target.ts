import type { InventoryItem, Order, Pet } from '../../shared/contract/schemas.ts';
import { type ExactRequest, type ExactResponse, exactFetch } from '../support/exactFetch.ts';

/** A running service and what the suite may assume about it. */
export interface ConformanceTarget {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** A key with write permission. */
  readonly apiKey: string;
  /** A key that allows reading alone. */
  readonly readOnlyApiKey: string;
  /** An origin that the stage allows. */
  readonly origin: string;
  readonly fixtures: Fixtures;
  /** Is told of each answer. */
  onResponse?(method: string, path: string, response: ExactResponse): void;
  close(): Promise<void>;
}

/** The data that the service holds, and nothing besides. */
export interface Fixtures {
  readonly inventory: readonly InventoryItem[];
  readonly pets: readonly Pet[];
  readonly orders: readonly Order[];
  /** The inventory entry that may be changed, and is put back. */
  readonly changeablePetId: bigint;
  /** An id that neither the inventory nor the pets have. */
  readonly missingPetId: bigint;
}

/** Gives the target once it runs: tests are named before it does. */
export type TargetSource = () => ConformanceTarget;

export interface Sending extends ExactRequest {
  /** In place of the target's key; `null` sends no `Authorization`. */
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
