import { openSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FaultInjection } from '../../infra/local/gateway/faultInjection.ts';
import { useLambdaConsole } from '../../infra/local/lambdaRuntime.ts';
import { type LocalStage, startLocalStage } from '../../infra/local/localStage.ts';
import { readStoreData } from '../../infra/local/storeData.ts';
import type { OperationId } from '../../shared/contract/operations.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../support/faults/faultyEndpoint.ts';
import { startEngineThread } from './engineThread.ts';

/** A local stage in a process of its own, with the sample data. */
export interface StageProcessOptions {
  /** The paths of the functions behind the gateway, by default the sources. */
  readonly bundles?: Readonly<Record<OperationId, string>>;
  readonly faultInjection?: FaultInjection;
  /** As DynamoDB's do; those of the embedded engine wait for each other. */
  readonly transactionsConflict?: boolean;
}

/** The key has write permission. */
export type Started = Pick<LocalStage, 'baseUrl' | 'apiKey'>;

export interface Vitals {
  /** The memory of its functions and its gateway after a collection, in bytes. */
  readonly usedBytes: number;
  /** The logged lines of level ERROR. */
  readonly errorLines: readonly string[];
  /** The writes that met a transaction on the same item, if transactions conflict. */
  readonly conflicts: number;
}

const options: StageProcessOptions = JSON.parse(process.argv[2] ?? '');
const { bundles, faultInjection, transactionsConflict } = options;

const errorLines: string[] = [];
writeLogNowhere();
useLambdaConsole();
let proxy: FaultyEndpoint | undefined;
const stage = await startLocalStage({
  port: 0,
  ...(faultInjection && { faultInjection }),
  async startEngine(options) {
    const engine = await startEngineThread(options);
    if (!transactionsConflict) return engine;
    proxy = await startFaultyEndpoint(engine.endpoint);
    proxy.occupyItems();
    return { ...engine, endpoint: proxy.endpoint };
  },
  ...(bundles && { loadModule: (id) => import(pathToFileURL(bundles[id]).href) }),
  data: await readStoreData(new URL('../../infra/local/sample.json', import.meta.url)),
});

process.on('message', async () => {
  const usedBytes = await measureHeap();
  const conflicts = proxy?.conflicts ?? 0;
  process.send?.({ usedBytes, errorLines, conflicts } satisfies Vitals);
});
process.on('disconnect', async () => {
  await stage.close();
  process.exit();
});
process.send?.({ baseUrl: stage.baseUrl, apiKey: stage.apiKey } satisfies Started);

/** Writes each line to /dev/null, since writing is part of the work, and keeps errors. */
function writeLogNowhere(): void {
  const sink = openSync('/dev/null', 'w');
  process.stderr.write = (line: string | Uint8Array) => {
    if (String(line).includes('"level":"ERROR"')) errorLines.push(String(line).trim());
    writeSync(sink, line as string);
    return true;
  };
}

/**
 * Bytes in use after a collection, with buffers outside V8's heap, in this thread: it has the gateway and the
 * functions, but not the engine.
 */
async function measureHeap(): Promise<number> {
  // So processes can start without this flag.
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // Finalized objects, such as buffers outside the heap, are garbage only in the next collection.
  for (let times = 0; times < 3; times += 1) {
    collect();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
