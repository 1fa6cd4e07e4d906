import { listenForInterruption } from '../cli/interruption.ts';
import { UsageError } from '../cli/usage.ts';
import { useLambdaConsole } from './lambda/lambdaConsole.ts';
import { startLocalStage } from './localStage.ts';
import { help, type Options, parseOptions } from './options.ts';
import { StartFailure } from './startFailure.ts';
import { readStoreData, type StoreData } from './storeData.ts';

/** How long a start may take before it says what it is doing. */
const PATIENCE_MILLISECONDS = 2_000;

const sample = new URL('sample.json', import.meta.url);

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(help);
  else await run(options);
} catch (error) {
  report(error);
}

async function run({ port, data: file, dir }: Options): Promise<void> {
  const { signal: stop } = listenForInterruption();
  useLambdaConsole();
  try {
    const data = await readStoreData(file ?? sample);
    const notice = setTimeout(
      () => tell(`Loading ${count(data)} entries …`),
      PATIENCE_MILLISECONDS,
    );
    const stage = await startLocalStage({
      port,
      data,
      onlyIfNew: file === undefined,
      signal: stop,
      ...(dir !== undefined && { dir }),
    }).finally(() => clearTimeout(notice));
    const { baseUrl, apiKey } = stage;
    const curl = `curl -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/inventory`;
    process.stdout.write(`Base address: ${baseUrl}\nAPI key: ${apiKey}\nTry it: ${curl}\n`);
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      stop.addEventListener('abort', () => resolve());
    });
    await stage.close();
  } catch (error) {
    if (!stop.aborted || (error as Error).name !== 'AbortError') throw error;
  }
  // Connections that the functions keep open to the engine would hold the process for a while.
  process.exit(0);
}

function report(error: unknown): never {
  if (error instanceof UsageError) {
    tell(`${error.message}. See --help.`);
    process.exit(2);
  }
  tell(error instanceof StartFailure ? error.message : String((error as Error)?.stack ?? error));
  process.exit(1);
}

function count({ inventory, pets, orders }: StoreData): string {
  return (inventory.length + pets.length + orders.length).toLocaleString('en');
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
