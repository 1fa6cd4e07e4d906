import { openSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { defineEngineThread } from '../../../infra/local/engine/engineThread.ts';
import { useLambdaConsole } from '../../../infra/local/lambda/lambdaConsole.ts';
import type { LoadHandler } from '../../../infra/local/lambda/lambdaFunction.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';
import { toGatewayHandler } from '../../bench/contenders/toGatewayHandler.ts';
import type { Contender, Started, Vitals, VitalsRequest } from './contender.ts';
import { startFloorServer } from './floorServer.ts';

const [name, bundles] = process.argv.slice(2) as [Contender['name'], string];
const paths = JSON.parse(bundles) as Contender['bundles'];

let errorLines = 0;
let firstError: string | undefined;
writeLogNowhere();
useLambdaConsole();
const { startEngine } = defineEngineThread();
const loadHandler: LoadHandler = async (id) => {
  const path = paths[id];
  if (path === undefined) return async () => ({ statusCode: 501 });
  const loaded = await import(pathToFileURL(path).href);
  return name === 'peer' ? toGatewayHandler(id, loaded.handler) : loaded;
};
const stage = await startLocalStage({
  port: 0,
  startEngine,
  loadHandler,
  data: await readStoreData(new URL('../../../infra/local/sample.json', import.meta.url)),
});

process.on('message', async ({ collects }: VitalsRequest) => {
  if (collects) await collectGarbage();
  process.send?.(takeVitals());
});
process.on('disconnect', async () => {
  await stage.close();
  process.exit();
});
const origin = name === 'floor' ? await startFloorServer() : new URL(stage.baseUrl).origin;
process.send?.({ origin, apiKey: stage.apiKey } satisfies Started);

/** What is used is of this thread alone, that of gateway and functions; the rest is of the process. */
function takeVitals(): Vitals {
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const cpuMilliseconds = (user + system) / 1_000;
  return {
    usedBytes: heapUsed + external,
    rss,
    errorLines,
    ...(firstError !== undefined && { firstError }),
    cpuMilliseconds,
  };
}

/** What a collection finalizes is garbage only to the next. */
async function collectGarbage(): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc?.();
    await setImmediate();
  }
}

/** The lines are written, as that is work, but kept from whoever reads the figures. */
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
