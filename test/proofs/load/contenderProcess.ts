import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { defineEngineThread } from '../../../infra/local/engine/engineThread.ts';
import { listen } from '../../../infra/local/engine/loopback.ts';
import type { LoadHandler } from '../../../infra/local/lambda/lambdaFunction.ts';
import { useLambdaConsole } from '../../../infra/local/lambda/lambdaRuntime.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';
import { toGatewayHandler } from '../../bench/functionHost.ts';
import { startConflictingEndpoint } from '../../support/faults/conflictingEndpoint.ts';
import { measureHeap } from '../../support/measureHeap.ts';
import type { Bundles, Conditions, Contender, Started, Vitals } from './runs.ts';

const [name, ...texts] = process.argv.slice(2) as [Contender['name'], ...string[]];
const [paths, conditions] = texts.map((text) => JSON.parse(text)) as [Bundles, Conditions];

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
let toConflicts = () => 0;
const stage = await startLocalStage({
  port: 0,
  faultInjection: conditions,
  async startEngine(options) {
    const engine = await startEngine(options);
    if (!conditions.transactionsConflict) return engine;
    const { endpoint, conflicts } = await startConflictingEndpoint(engine.endpoint);
    toConflicts = conflicts;
    return { ...engine, endpoint };
  },
  loadHandler,
  data: await readStoreData(new URL('../../../infra/local/sample.json', import.meta.url)),
});

process.on('message', async ({ collects }: { collects: boolean }) => {
  const { user, system } = process.cpuUsage();
  const cpuMilliseconds = (user + system) / 1_000;
  const usedBytes = collects ? await measureHeap() : 0;
  const { rss } = process.memoryUsage();
  const conflicts = toConflicts();
  const vitals = { usedBytes, rss, errorLines, firstError, cpuMilliseconds, conflicts };
  process.send?.(vitals satisfies Vitals);
});
process.on('disconnect', async () => {
  await stage.close();
  process.exit();
});
const origin = name === 'floor' ? await startFloorServer() : new URL(stage.baseUrl).origin;
process.send?.({ origin, apiKey: stage.apiKey } satisfies Started);

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

/**
 * Looks up pets without gateway, functions and keys: HTTP, the SDK and the engine.
 * @returns the server's origin
 */
async function startFloorServer(): Promise<string> {
  const client = new DynamoDBClient({});
  const server = createServer(async ({ url = '' }, response) => {
    const id = url.slice(url.lastIndexOf('/') + 1);
    const lookup = new GetItemCommand({ TableName: 'pets', Key: { id: { N: id } } });
    const { Item } = await client.send(lookup);
    response.writeHead(Item ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(Item));
  });
  return `http://127.0.0.1:${await listen(server, 0, '')}`;
}
