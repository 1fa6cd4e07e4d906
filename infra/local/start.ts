import { listenForInterruption } from '../cli/interruption.ts';
import { defineProgress } from '../cli/progress.ts';
import { UsageError } from '../cli/usage.ts';
import { tableNames } from '../stages/tables.ts';
import { defineEngineThread } from './engine/engineThread.ts';
import { StartFailure } from './engine/loopback.ts';
import { useLambdaConsole } from './lambda/lambdaRuntime.ts';
import { help, type Options, parseOptions } from './options.ts';
import { readStoreData, type StoreData } from './storeData.ts';

const sample = new URL('sample.json', import.meta.url);

/** Runs the local stage until it is interrupted, and returns the exit status. */
export async function start(args: string[]): Promise<number> {
  try {
    const options = parseOptions(args);
    if (options.help) process.stdout.write(help);
    else await run(options);
    return 0;
  } catch (error) {
    process.stderr.write(`${toLine(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run({ port, data: file, dir, enginePort, faultInjection }: Options): Promise<void> {
  // Never disposed of: the echo of a Ctrl-C that npm sends may come when all is closed already.
  const { signal: stop } = listenForInterruption();
  useLambdaConsole();
  using thread = defineEngineThread();
  try {
    // Takes as long as the thread takes to load.
    const { startLocalStage } = await import('./localStage.ts');
    const data = await readStoreData(file ?? sample);
    const progress = defineProgress(`Loading ${file ?? 'the sample'}`, count(data));
    const stage = await startLocalStage({
      port,
      dir,
      enginePort,
      startEngine: thread.startEngine,
      data,
      onlyIfNew: file === undefined,
      signal: stop,
      onProgress: progress.update,
      faultInjection,
    }).finally(progress.clear);
    const { baseUrl, documentationAddress, apiKey, readKey, engineEndpoint } = stage;
    const curl = `curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/inventory`;
    const lines = [
      `Base address: ${baseUrl}`,
      `API key: ${apiKey}`,
      `Try it: ${curl}`,
      `Read key: ${readKey}`,
      `Documentation: ${documentationAddress}/`,
      ...(enginePort === undefined
        ? []
        : [`DynamoDB: ${engineEndpoint}, with the tables ${tableNames.join(', ')}`]),
    ];
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    await untilAborted(AbortSignal.any([stop, stage.engineCrash]));
    stage.engineCrash.throwIfAborted();
    await stage.close();
  } catch (error) {
    if (!stop.aborted || (error as Error).name !== 'AbortError') throw error;
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
}

function toLine(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}. See --help.`;
  return error instanceof StartFailure ? error.message : String((error as Error)?.stack ?? error);
}

function count({ inventory, pets, orders }: StoreData): number {
  return inventory.length + pets.length + orders.length;
}
