import type { OperationId } from '../../../shared/contract/operations.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';

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
