import autocannon, { type Request } from 'autocannon';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';

/** A server under load: the service, the benchmarks' peer, or plain HTTP with the SDK. */
export interface Contender {
  readonly name: 'ours' | 'peer' | 'floor';
  readonly process: ChildProcess<Started>;
}

/** The paths of the functions behind the gateway. The peer lacks some operations. The floor does not use them. */
export type Bundles = Readonly<Partial<Record<OperationId, string>>>;

/** Where a contender listens. */
export interface Started {
  readonly origin: string;
  /** With write permission. */
  readonly apiKey: string;
}

export interface Vitals {
  /** The memory of its functions and its gateway after a collection, in bytes; 0 if not measured. */
  readonly usedBytes: number;
  /** All memory of its process, with the engine, in bytes. */
  readonly rss: number;
  /** The number of logged lines of level ERROR, and the first one. */
  readonly errorLines: number;
  readonly firstError?: string | undefined;
  /** The CPU of all its process's threads. */
  readonly cpuMilliseconds: number;
}

export async function startContender(
  name: Contender['name'],
  bundles: Bundles,
): Promise<Contender> {
  const script = new URL('contenderProcess.ts', import.meta.url).pathname;
  const args = [name, JSON.stringify(bundles)];
  return { name, process: await startChild(script, args) };
}

/** @param collects whether to collect garbage and measure memory */
export function takeVitals({ process }: Contender, collects: boolean): Promise<Vitals> {
  return process.ask<Vitals>({ collects });
}

/** Requests in flight at once. */
export const CONNECTIONS = 10;

/** What clients measure of a server under load. */
export type LoadFigures = Awaited<ReturnType<typeof putUnderLoad>>;

/** Sends requests in sequence on each connection, as fast as the responses come. */
export async function putUnderLoad({ process }: Contender, load: LoadName, seconds: number) {
  const { origin, apiKey } = process.first;
  const { requests, latency, duration, errors, non2xx } = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    duration: seconds,
    // The load ends at the end of a sample.
    sampleInt: Math.min(1_000, 500 * seconds),
    requests: loads[load](apiKey),
  });
  return {
    requests: requests.total,
    perSecond: requests.total / duration,
    p50: latency.p50,
    p99: latency.p99,
    /** Requests without a response, or with one other than 2xx. */
    failures: errors + non2xx,
  };
}

/** Ids in `infra/local/sample.json` that have both a pet and an inventory entry. */
const petIds = Array.from({ length: 40 }, (_, index) => index + 1);

/** Loads by name: the requests that each connection repeats. */
const loads = {
  /** A pet by its id. */
  lookups: (apiKey: string) => petIds.map((petId) => toRead(`/pets/${petId}`, apiKey)),
  /** Of ten requests, seven look up a pet, one lists the inventory, one lists the orders, and one is an update. */
  mix: (apiKey: string) =>
    petIds.flatMap((petId) => [
      {
        method: 'PATCH',
        path: `/v1/inventory/${petId}`,
        headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ quantity: petId }),
      },
      ...[1, 6, 11, 16, 21, 26, 31].map((other) =>
        toRead(`/pets/${((petId + other) % petIds.length) + 1}`, apiKey),
      ),
      toRead('/inventory', apiKey),
      toRead('/store/orders', apiKey),
    ]),
} satisfies Record<string, (apiKey: string) => Request[]>;

export type LoadName = keyof typeof loads;

function toRead(path: string, apiKey: string): Request {
  return { method: 'GET', path: `/v1${path}`, headers: { Authorization: `Bearer ${apiKey}` } };
}
