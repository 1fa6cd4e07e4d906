import autocannon, { type Request } from 'autocannon';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';

/** Something to put under load: the service, the peer of the benchmarks, or plain HTTP with the SDK. */
export interface Contender {
  readonly name: 'ours' | 'peer' | 'floor';
  readonly process: ChildProcess<Started>;
}

/** The functions behind the gateway, by path; the peer has not every operation. The floor does not use them. */
export type Bundles = Readonly<Partial<Record<OperationId, string>>>;

/** Where a contender listens. */
export interface Started {
  readonly origin: string;
  /** With write permission. */
  readonly apiKey: string;
}

/** How a contender is. */
export interface Vitals {
  /** What its functions and its gateway hold in memory without garbage, in bytes; 0 where it was not measured. */
  readonly usedBytes: number;
  /** All memory of its process, the engine's included, in bytes. */
  readonly rss: number;
  /** How many lines of level ERROR it has logged, and the first of them. */
  readonly errorLines: number;
  readonly firstError?: string | undefined;
  /** What all threads of its process have used. */
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

/** @param collects whether memory is measured, for which garbage is collected */
export function takeVitals({ process }: Contender, collects: boolean): Promise<Vitals> {
  return process.ask<Vitals>({ collects });
}

/** How many requests are under way at once. */
export const CONNECTIONS = 10;

/** What clients had of a server under load. */
export type LoadFigures = Awaited<ReturnType<typeof putUnderLoad>>;

/** Sends as many requests as are answered, one after the other on each connection. */
export async function putUnderLoad({ process }: Contender, load: LoadName, seconds: number) {
  const { origin, apiKey } = process.first;
  const { requests, latency, duration, errors, non2xx } = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    duration: seconds,
    // The load ends where a sample does.
    sampleInt: Math.min(1_000, 500 * seconds),
    requests: loads[load](apiKey),
  });
  return {
    requests: requests.total,
    perSecond: requests.total / duration,
    p50: latency.p50,
    p99: latency.p99,
    /** Requests that had no answer, or another one than 2xx. */
    failures: errors + non2xx,
  };
}

/** Of those in `infra/local/sample.json`, each a pet and an entry of the inventory. */
const petIds = Array.from({ length: 40 }, (_, index) => index + 1);

/** Loads by name, as what each connection sends over and over. */
const loads = {
  /** A pet by its id. */
  lookups: (apiKey: string) => petIds.map((petId) => toRead(`/pets/${petId}`, apiKey)),
  /** Of ten requests seven look up a pet, one lists the inventory, one the orders, and one is an update. */
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
