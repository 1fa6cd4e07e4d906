import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import type { StageSettings } from '../stages/stageSettings.ts';

// The firewall's rate rules, which the guides name too.

/** A rule refuses what it counts while the last minute has more than its limit. */
export interface RateRule {
  readonly name:
    | ('flood' | 'keyless' | 'lists-of-key' | 'lists-of-address')
    | `${OperationId}-of-address`;
  /** Requests in a minute. */
  readonly limit: number;
  readonly countedBy: 'address' | 'key';
  /**
   * Preflights have no key, and are only part of `all`. A request to an operation without a key is only `keyless`: many
   * of them cost a client at the same address no list.
   */
  readonly counts: 'all' | 'keyless' | OperationId;
}

/** AWS's shortest period. */
export const RATE_WINDOW_SECONDS = 60;

/** AWS's lowest limit. */
const MIN_RATE_LIMIT = 10;

/**
 * An `Authorization` header with the shape of an API key, in lower case and with single spaces. Whether the key is valid,
 * only a function knows.
 */
export const credentialsPattern = '^bearer psk_[0-9a-z]{42}$';

/**
 * The rules in their order. The first that refuses a request ends it, so that no later one counts it. AWS allows ten:
 * https://docs.aws.amazon.com/waf/latest/developerguide/limits.html
 */
export function listRateRules(settings: StageSettings): RateRule[] {
  const { firewall, firewallRequestsPerAddress = 3_000, baseAddress, throttles } = settings;
  if (!firewall) return [];
  const toRate = (id: OperationId) => throttles[id].rate * RATE_WINDOW_SECONDS;
  const toShare = (id: OperationId) => Math.max(MIN_RATE_LIMIT, Math.floor((toRate(id) * 2) / 3));
  const { firewallListsPerClient: lists = toShare('listInventory') } = settings;
  // One address could use up their throttles. Behind a proxy, one address has all clients.
  const small = operationIds.filter(
    (id) => id !== 'listInventory' && !baseAddress && toRate(id) <= firewallRequestsPerAddress,
  );
  return [
    { name: 'flood', limit: firewallRequestsPerAddress, countedBy: 'address', counts: 'all' },
    { name: 'keyless', limit: 60, countedBy: 'address', counts: 'keyless' },
    { name: 'lists-of-key', limit: lists, countedBy: 'key', counts: 'listInventory' },
    // Otherwise a client could invent a key for each request.
    { name: 'lists-of-address', limit: lists, countedBy: 'address', counts: 'listInventory' },
    ...small.map((id): RateRule => {
      return { name: `${id}-of-address`, limit: toShare(id), countedBy: 'address', counts: id };
    }),
  ];
}
