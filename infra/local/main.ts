import { constants } from 'node:os';
import { UsageError } from '../ops/usage.ts';
import { useLambdaConsole } from './lambdaConsole.ts';
import { startLocalStage } from './localStage.ts';
import { help, type Options, parseOptions } from './options.ts';
import { StartFailure } from './startFailure.ts';
import { readStoreData, type StoreData } from './storeData.ts';

/** Under `npm start`, one Ctrl-C arrives twice: from the terminal, and again from npm. */
const ECHO_MILLISECONDS = 500;
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
  const stop = listenForSignals();
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

/** The first SIGINT or SIGTERM aborts the signal, the next ends the process at once. */
function listenForSignals(): AbortSignal {
  const controller = new AbortController();
  let first = 0;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        first = performance.now();
        controller.abort();
      } else if (performance.now() - first > ECHO_MILLISECONDS) {
        process.exit(128 + constants.signals[name]);
      }
    });
  }
  return controller.signal;
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
