import { openSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { StartEngine } from '../../infra/local/engine/engine.ts';
import type { FaultInjection } from '../../infra/local/gateway/faultInjection.ts';
import { useLambdaConsole } from '../../infra/local/lambdaRuntime.ts';
import { startLocalStage } from '../../infra/local/localStage.ts';
import { readStoreData } from '../../infra/local/storeData.ts';
import type { OperationId } from '../../shared/contract/operations.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../support/faults/faultyEndpoint.ts';
import { measureHeap } from '../support/measureHeap.ts';
import { startEngineThread } from './engineThread.ts';

/** A local stage in a process of its own, with the sample data. */
export interface StageProcessOptions {
  /** The paths of the functions behind the gateway, by default the sources. */
  readonly bundles?: Readonly<Record<OperationId, string>>;
  /** Keeps the data between runs. */
  readonly dir?: string;
  /** Of an engine that runs already. */
  readonly endpoint?: string | undefined;
  readonly faultInjection?: FaultInjection;
  /** As DynamoDB's do; those of the embedded engine wait for each other. */
  readonly transactionsConflict?: boolean;
}

export interface Started {
  readonly baseUrl: string;
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
  /** The writes that met a transaction on the same item, if transactions conflict. */
  readonly conflicts: number;
}

const options: StageProcessOptions = JSON.parse(process.argv[2] ?? '');
const { bundles, dir, endpoint, faultInjection, transactionsConflict } = options;

let errorLines = 0;
let firstError: string | undefined;
writeLogNowhere();
useLambdaConsole();
const startEngine: StartEngine = endpoint
  ? async () => ({ endpoint, close: async () => {} })
  : startEngineThread;
let proxy: FaultyEndpoint | undefined;
const stage = await startLocalStage({
  port: 0,
  onlyIfNew: true,
  ...(dir && { dir }),
  ...(faultInjection && { faultInjection }),
  async startEngine(options) {
    const engine = await startEngine(options);
    if (!transactionsConflict) return engine;
    proxy = await startFaultyEndpoint(engine.endpoint);
    proxy.occupyItems();
    return { ...engine, endpoint: proxy.endpoint };
  },
  ...(bundles && { loadModule: (id) => import(pathToFileURL(bundles[id]).href) }),
  data: await readStoreData(new URL('../../infra/local/sample.json', import.meta.url)),
});

process.on('message', async ({ collects }: { collects: boolean }) => {
  const { user, system } = process.cpuUsage();
  const cpuMilliseconds = (user + system) / 1_000;
  const usedBytes = collects ? await measureHeap() : 0;
  const { rss } = process.memoryUsage();
  const conflicts = proxy?.conflicts ?? 0;
  const vitals = { usedBytes, rss, errorLines, firstError, cpuMilliseconds, conflicts };
  process.send?.(vitals satisfies Vitals);
});
process.on('disconnect', async () => {
  await stage.close();
  process.exit();
});
process.send?.({ baseUrl: stage.baseUrl, apiKey: stage.apiKey } satisfies Started);

/** Writes each line to /dev/null, since writing is part of the work, and counts errors. */
function writeLogNowhere(): void {
  const sink = openSync('/dev/null', 'w');
  process.stderr.write = (line: string | Uint8Array) => {
    if (String(line).includes('"level":"ERROR"')) {
      errorLines += 1;
      firstError ??= String(line).trim();
    }
    writeSync(sink, line as string);
    return true;
  };
}
