import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Item } from '../../infra/cli/bulk/resources.ts';
import { BATCH_SIZE, defineReplacingWriter } from '../../infra/cli/bulk/tableWriters.ts';
import { type Engine, startEmbeddedEngine } from '../../infra/local/engine/engine.ts';
import { listen } from '../../infra/local/engine/loopback.ts';

/** The variable in which `npm run test:dynamodb-local` passes the folder of DynamoDB Local to the tests. */
export const FOLDER_VARIABLE = 'PETSTORE_DYNAMODB_LOCAL';

const folder = process.env[FOLDER_VARIABLE];

/** The emulator of the stores' tests: AWS's own if the variable is set. */
export const testEngine: { readonly name: string; start(): Promise<Engine> } =
  folder === undefined
    ? { name: 'dynalite', start: () => startEmbeddedEngine({}) }
    : { name: 'DynamoDB Local', start: () => startDynamodbLocal(folder) };

/** Milliseconds until DynamoDB Local must respond: on busy cores, a Java machine is slow to start. */
const START_TIMEOUT = 60_000;

/**
 * AWS's own DynamoDB Local, in a Java process with its data in memory. It ends when this process exits; only SIGKILL
 * here leaves it running. It listens on every address of the machine, and has no option to choose one.
 */
async function startDynamodbLocal(folder: string): Promise<Engine> {
  const port = await findFreePort();
  const child = spawn('java', toArguments(folder, port), { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const endpoint = `http://127.0.0.1:${port}`;
  await untilItResponds(endpoint);
  return {
    endpoint,
    putItems: definePutItems(endpoint),
    async close() {
      process.removeListener('exit', kill);
      kill();
      await exited;
    },
  };
}

/** Writes through DynamoDB's API, for an engine outside this thread. */
export function definePutItems(endpoint: string): Engine['putItems'] {
  return async (tableName, items) => {
    const client = new DynamoDBClient({ endpoint });
    const write = defineReplacingWriter({
      client,
      tableName,
      signal: new AbortController().signal,
    });
    for (let from = 0; from < items.length; from += BATCH_SIZE) {
      await write(items.slice(from, from + BATCH_SIZE) as Item[]);
    }
    client.destroy();
  };
}

async function untilItResponds(endpoint: string): Promise<void> {
  const end = Date.now() + START_TIMEOUT;
  for (;;) {
    try {
      // Any response will do: this is not a DynamoDB request.
      await (await fetch(endpoint)).body?.cancel();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await pause(50);
    }
  }
}

/**
 * A port below those that Linux, macOS and Windows give to others who ask for any: until a slow engine listens, the
 * tests in other workers start hundreds of servers and connections.
 */
async function findFreePort(): Promise<number> {
  const port = randomInt(10_000, 30_000);
  const server = createServer();
  try {
    await listen(server, port, '');
  } catch {
    return findFreePort();
  }
  await once(server.close(), 'close');
  return port;
}

function toArguments(folder: string, port: number): string[] {
  return [
    // For a short life: a compiler that starts early, and a garbage collector without threads.
    ...['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
    `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
    ...['-jar', join(folder, 'DynamoDBLocal.jar'), '-port', String(port), '-inMemory'],
    // One set of tables, as in dynalite. By default it keeps one for each key id and region.
    '-sharedDb',
    // Otherwise it reports each start to AWS:
    // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DynamoDBLocalTelemetry.html
    '-disableTelemetry',
  ];
}
