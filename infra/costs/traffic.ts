import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import { UsageError } from '../cli/usage.ts';
import { listResponses } from './units.ts';

/** A month's requests. */
export interface Traffic {
  /** Where it comes from, such as `infra/costs/traffic.json`. */
  readonly source: string;
  /** The length of the inventory. */
  readonly entries: number;
  readonly shares: readonly TrafficShare[];
}

export interface TrafficShare {
  readonly operationId: OperationId;
  /** As in `units.json`. */
  readonly response: string;
  readonly requests: number;
}

export function sumRequests({ shares }: Pick<Traffic, 'shares'>): number {
  return shares.reduce((sum, { requests }) => sum + requests, 0);
}

const committedFile = new URL('traffic.json', import.meta.url);

/** The usual traffic. Keep it similar to the stage's own. */
export const readCommittedTraffic = () => parseTraffic(readFileSync(committedFile, 'utf8'));

interface TrafficOptions {
  readonly requests?: string | undefined;
  readonly traffic?: string | undefined;
  readonly entries?: number | undefined;
  readonly times?: number | undefined;
}

/**
 * The traffic that was typed, or the committed traffic.
 * @throws {UsageError} that says what is wrong with it
 */
export function readTraffic({ requests, traffic: file, entries, times = 1 }: TrafficOptions) {
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  try {
    const text = file === undefined ? undefined : readFileSync(file === '-' ? 0 : file, 'utf8');
    const name = file === '-' ? 'The standard input' : file;
    const read = text === undefined ? readCommittedTraffic() : parseTraffic(text, name);
    const once = requests === undefined ? read : replaceRequests(read, requests);
    const all = times === 1 ? once : multiplyRequests(once, times);
    return { ...all, entries: entries ?? all.entries };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

const usualEntries = 1_000;
const count = z.int().check(z.nonnegative());
const trafficFile = z.strictObject({
  entries: z._default(count, usualEntries),
  requests: z.record(z.string(), count),
});

/**
 * Reads traffic from a file: `{"entries": 1000, "requests": {"listOrders": 2000000, "listInventory 200 gzip": …}}`.
 * `requests` has a month's requests by operation and response; the default response is `200`.
 */
function parseTraffic(text: string, file = 'infra/costs/traffic.json'): Traffic {
  try {
    const { data, error } = trafficFile.safeParse(JSON.parse(text));
    if (error) throw new Error(z.prettifyError(error));
    const shares = Object.entries(data.requests).map(([name, requests]) => {
      const [operationId = '', ...response] = name.split(' ');
      return toShare(operationId, response.join(' '), requests);
    });
    return { entries: data.entries, shares, source: file };
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
}

const factors: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9 };

/**
 * The traffic with the requests of an option: a number such as `10M`, in the same mix, or a month's requests by
 * operation, such as `listOrders=2M,listInventory:gzip=500k`. After a colon comes what differs from a plain 200: `gzip`,
 * `304`.
 */
export function replaceRequests(traffic: Traffic, text: string): Traffic {
  const sum = parseAmount(text);
  if (sum !== undefined) {
    const { shares } = multiplyRequests(traffic, sum / sumRequests(traffic));
    return { ...traffic, shares, source: `${text} requests in the mix of ${traffic.source}` };
  }
  const shares = text.split(',').map((part) => {
    const [, operationId = '', response = '', amount = ''] =
      /^(\w*)(?::(.*))?=(.*)$/.exec(part.trim()) ?? [];
    const requests = parseAmount(amount);
    if (requests === undefined) {
      throw new Error(
        `"${part}" must have the form listOrders=2M or listInventory:304=500k, or be a number.`,
      );
    }
    return toShare(operationId, response, requests);
  });
  return { entries: usualEntries, shares, source: `--requests ${text}` };
}

/** The same mix, some times as many. */
export function multiplyRequests(traffic: Traffic, times: number): Traffic {
  const shares = traffic.shares.map((one) => ({ ...one, requests: one.requests * times }));
  return { ...traffic, shares, source: `${traffic.source}, ${times} times` };
}

function parseAmount(text: string): number | undefined {
  const [, digits, factor = ''] = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Math.round(Number(digits) * (factors[factor] ?? 1));
}

function toShare(name: string, responseName: string, requests: number): TrafficShare {
  const operationId = operationIds.find((id) => id === name);
  if (!operationId) {
    throw new Error(
      `There is no operation "${name}". The operations are ${operationIds.join(', ')}.`,
    );
  }
  const responses = listResponses(operationId);
  const response = responses.find(
    (one) => one === (responseName || '200') || one === `200 ${responseName}`,
  );
  if (response) return { operationId, response, requests };
  throw new Error(
    `units.json has no request "${responseName}" of ${operationId}; it has ${responses.join(', ')}.`,
  );
}
