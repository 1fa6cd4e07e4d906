import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import type { commands } from '../cli/commands.ts';
import type { OptionValues } from '../cli/program.ts';
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

type Options = Partial<OptionValues<(typeof commands.costs.subcommands)['table']>>;

/**
 * The traffic that was typed, or the usual traffic of `traffic.json`, which should stay similar to the stage's own.
 * @throws {UsageError} that says what is wrong with it
 */
export function readTraffic({ requests, traffic: file, entries, times = 1 }: Options): Traffic {
  if (requests !== undefined && file !== undefined) {
    throw new UsageError('Give --requests or --traffic, not both.');
  }
  try {
    const once = requests === undefined ? readFile(file) : parseRequests(requests);
    const source = times === 1 ? once.source : `${once.source}, ${times} times`;
    return { source, entries: entries ?? once.entries, shares: multiply(once, times) };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

const usualFile = new URL('traffic.json', import.meta.url);
const usualEntries = 1_000;
const count = z.int().check(z.nonnegative());
const trafficFile = z.strictObject({
  entries: z._default(count, usualEntries),
  requests: z.record(z.string(), count),
});

/**
 * Reads `{"entries": 1000, "requests": {"listOrders": 2000000, "listInventory 200 gzip": …}}`: a month's requests by
 * operation and response, `200` by default.
 * @param file `-` for the standard input
 */
function readFile(file?: string): Traffic {
  const source = file === '-' ? 'The standard input' : (file ?? 'infra/costs/traffic.json');
  const text = readFileSync(file === '-' ? 0 : (file ?? usualFile), 'utf8');
  try {
    const { data, error } = trafficFile.safeParse(JSON.parse(text));
    if (error) throw new Error(z.prettifyError(error));
    const shares = Object.entries(data.requests).map(([name, count]) => toShare(name, count));
    return { entries: data.entries, shares, source };
  } catch (error) {
    throw new Error(`${source} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Reads a number such as `10M`, for the usual mix, or a month's requests by operation, such as
 * `listOrders=2M,listInventory:gzip=500k`. After a colon comes what differs from a plain 200: `gzip`, `304`.
 */
function parseRequests(text: string): Traffic {
  const sum = parseAmount(text);
  if (sum !== undefined) {
    const usual = readFile();
    const shares = multiply(usual, sum / sumRequests(usual));
    return { ...usual, shares, source: `${text} requests in the mix of ${usual.source}` };
  }
  const shares = text.split(',').map((part) => {
    const [, name = '', amount = ''] = /^(.*)=(.*)$/.exec(part.trim()) ?? [];
    const requests = parseAmount(amount);
    if (requests === undefined) {
      throw new Error(
        `"${part}" must have the form listOrders=2M or listInventory:304=500k, or be a number.`,
      );
    }
    return toShare(name, requests);
  });
  return { entries: usualEntries, shares, source: `--requests ${text}` };
}

const multiply = ({ shares }: Traffic, times: number) =>
  shares.map((one) => ({ ...one, requests: one.requests * times }));

const factors: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9 };

function parseAmount(text: string): number | undefined {
  const [, digits, factor = ''] = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Math.round(Number(digits) * (factors[factor] ?? 1));
}

/** @param name an operation, and after a space or a colon its response; default: 200 */
function toShare(name: string, requests: number): TrafficShare {
  const [, id = '', text = ''] = /^(\w*)[ :]?(.*)$/.exec(name) ?? [];
  const operationId = operationIds.find((one) => one === id);
  if (!operationId) {
    throw new Error(
      `There is no operation "${id}". The operations are ${operationIds.join(', ')}.`,
    );
  }
  const responses = listResponses(operationId);
  const response = responses.find((one) => one === (text || '200') || one === `200 ${text}`);
  if (response) return { operationId, response, requests };
  throw new Error(
    `units.json has no request "${text}" of ${operationId}; it has ${responses.join(', ')}.`,
  );
}
