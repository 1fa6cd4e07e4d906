import autocannon, { type Request } from 'autocannon';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';
import type { Section } from '../../bench/report.ts';

/** Something to put under load: the service, the peer of the benchmarks, or plain HTTP with the SDK. */
export interface Contender {
  readonly name: 'ours' | 'peer' | 'floor';
  /** The functions behind the gateway, by path; the peer has not every operation. The floor does not use them. */
  readonly bundles: Readonly<Partial<Record<OperationId, string>>>;
}

/** Where a contender listens. */
export interface Started {
  readonly origin: string;
  /** With write permission. */
  readonly apiKey: string;
}

/** How a contender is. */
export interface Vitals {
  /** What its functions and its gateway hold in memory, without garbage. */
  readonly usedBytes: number;
  /** All memory of its process, the engine's included, in bytes. */
  readonly rss: number;
  /** How many lines of level ERROR it has logged, and the first of them. */
  readonly errorLines: number;
  readonly firstError?: string;
  /** What all threads of its process have used. */
  readonly cpuMilliseconds: number;
}

/** Asks for the vitals. */
export interface VitalsRequest {
  /** Whether garbage is to be collected first. */
  readonly collects: boolean;
}

export interface RunningContender extends Contender {
  readonly process: ChildProcess<Started>;
}

/** @param profile the folder for its CPU profile, if one is wanted */
export async function startContender(
  contender: Contender,
  profile?: string,
): Promise<RunningContender> {
  const { name, bundles } = contender;
  const script = new URL('contenderProcess.ts', import.meta.url).pathname;
  const process = await startChild<Started>(script, [name, JSON.stringify(bundles)], {
    nodeOptions: [
      '--expose-gc',
      ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
    ],
  });
  return { ...contender, process };
}

/** Once garbage is collected, unless told otherwise. */
export function takeVitals({ process }: RunningContender, collects = true): Promise<Vitals> {
  return process.ask<Vitals>({ collects } satisfies VitalsRequest);
}

export interface Outcome {
  readonly section: Section;
  /** What makes the run a failure; speed does not, since it is the machine's too. */
  readonly problems: readonly string[];
}

/** What no contender may have had. */
export function findProblems(
  name: string,
  failures: number,
  { errorLines, firstError }: Vitals,
): string[] {
  return [
    ...(failures > 0 ? [`${name}: ${failures} requests had no answer of 2xx.`] : []),
    ...(errorLines > 0 ? [`${name}: ${errorLines} lines of level ERROR, first ${firstError}`] : []),
  ];
}

/** What clients had of a server under load. */
export interface LoadFigures {
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds, to the whole one. */
  readonly p50: number;
  readonly p99: number;
  /** Requests that had no answer, or another one than 2xx. */
  readonly failures: number;
}

export interface LoadSettings {
  readonly load: LoadName;
  readonly connections: number;
  readonly seconds: number;
}

/** Sends as many requests as are answered, one after the other on each connection. */
export async function putUnderLoad(
  { origin, apiKey }: Started,
  { load, connections, seconds }: LoadSettings,
): Promise<LoadFigures> {
  const { requests, latency, duration, errors, non2xx } = await autocannon({
    url: origin,
    connections,
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
    failures: errors + non2xx,
  };
}

/** Of those in `infra/local/sample.json`, each a pet and an entry of the inventory. */
const petIds = Array.from({ length: 40 }, (_, index) => index + 1);

/** Loads by name, as what each connection sends over and over. */
export const loads = {
  /** A pet by its id. */
  lookups: (apiKey: string) => petIds.map((petId) => toLookup(petId, apiKey)),
  /** Of ten requests seven look up a pet, one lists the inventory, one the orders, and one is an update. */
  mix: (apiKey: string) =>
    petIds.flatMap((petId) => {
      const others = Array.from(
        { length: 7 },
        (_, index) => ((petId + 5 * index) % petIds.length) + 1,
      );
      return [
        toUpdate(petId, apiKey),
        ...others.map((other) => toLookup(other, apiKey)),
        toRead('/inventory', apiKey),
        toRead('/store/orders', apiKey),
      ];
    }),
} satisfies Record<string, (apiKey: string) => Request[]>;

export type LoadName = keyof typeof loads;

function toLookup(petId: number, apiKey: string): Request {
  return toRead(`/pets/${petId}`, apiKey);
}

function toRead(path: string, apiKey: string): Request {
  return { method: 'GET', path: `/v1${path}`, headers: { Authorization: `Bearer ${apiKey}` } };
}

function toUpdate(petId: number, apiKey: string): Request {
  return {
    method: 'PATCH',
    path: `/v1/inventory/${petId}`,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ quantity: petId }),
  };
}
