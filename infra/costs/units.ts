import { readFileSync } from 'node:fs';
import type { OperationId } from '../../shared/contract/operations.ts';

/** What AWS bills for one request, in its own units. Multiplied by prices, it is what the request costs. */
export interface PricedUnits {
  /** A streamed response counts as one request for each 10 MB. */
  readonly gatewayRequests: number;
  readonly functionCalls: number;
  /** An assumption: the model knows no network. */
  readonly milliseconds: number;
  /** With an API key that the container has cached. A key lookup reads one unit more. */
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Head and body, as the gateway sends them. */
  readonly sentBytes: number;
  /** The function's line, Lambda's lines for the start and end of the call, and the gateway's line. */
  readonly loggedBytes: number;
  /** What the table `requests` keeps for 30 days. */
  readonly storedBytes: number;
}

/** A named request of `units.json`, which `npm run units` measures. */
export interface RequestUnits {
  /** `other` is a path that does not exist. */
  readonly operationId: OperationId | 'other';
  /** The name in `traffic.json`: the status, and what makes its cost differ from others of the same status. */
  readonly response: string;
  /** In words, such as `all entries, gzip`. */
  readonly request: string;
  /** The length of the inventory, if the units grow with it. Then there is a row for a short and for a long one. */
  readonly entries?: number;
  readonly priced: PricedUnits;
}

export const unitsFile = new URL('units.json', import.meta.url);
const rows: readonly RequestUnits[] = JSON.parse(readFileSync(unitsFile, 'utf8'));

/** The names of an operation's requests. */
export function listResponses(id: RequestUnits['operationId']): string[] {
  const own = rows.filter(({ operationId }) => operationId === id);
  return [...new Set(own.map(({ response }) => response))];
}

/**
 * The units of a request for any length of the inventory, on the line through the two measured lengths.
 * @throws {Error} if no request has this name
 */
export function findUnits(
  id: RequestUnits['operationId'],
  name: string,
  entries: number,
): RequestUnits {
  const [short, long] = rows.filter(
    ({ operationId, response }) => operationId === id && response === name,
  );
  if (!short) {
    throw new Error(
      `units.json has no request "${name}" of ${id}. Add it to test/conformance/operations/${id}.ts, and run npm run units.`,
    );
  }
  if (short.entries === undefined || long?.entries === undefined) return short;
  // A list of several pages of a Scan has no 304; the response is 200.
  if (name === '304' && entries > long.entries) return findUnits(id, '200', entries);
  const share = (entries - short.entries) / (long.entries - short.entries);
  const between = (unit: keyof PricedUnits) =>
    short.priced[unit] + share * (long.priced[unit] - short.priced[unit]);
  const sentBytes = Math.round(between('sentBytes'));
  const priced = {
    ...short.priced,
    gatewayRequests: toGatewayRequests(sentBytes),
    milliseconds: Math.ceil(between('milliseconds')),
    // In halves, of 4 KB each.
    readUnits: Math.max(0.5, Math.round(2 * between('readUnits')) / 2),
    sentBytes,
    loggedBytes: Math.round(between('loggedBytes')),
  };
  return { ...short, entries, priced };
}

/** https://aws.amazon.com/api-gateway/pricing/ */
export function toGatewayRequests(sentBytes: number): number {
  return Math.max(1, Math.ceil(sentBytes / (10 * 2 ** 20)));
}
