import { defineEngineThread } from '../../../infra/local/engine/engineThread.ts';
import { useLambdaConsole } from '../../../infra/local/lambda/lambdaRuntime.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';
import type { Run } from './client.ts';

/** The local stage on a folder; the optional second argument is the endpoint of a running engine. */
const [dir, endpoint] = process.argv.slice(2);
useLambdaConsole();
// Nobody reads what the functions log.
process.stderr.write = () => true;
const { baseUrl, apiKey } = await startLocalStage({
  port: 0,
  dir,
  data: await readStoreData(new URL('../../../infra/local/sample.json', import.meta.url)),
  onlyIfNew: true,
  startEngine: endpoint
    ? async () => ({ endpoint, close: async () => {} })
    : defineEngineThread().startEngine,
});
process.send?.({ baseUrl, apiKey, isKilled: false } satisfies Run);
process.on('disconnect', () => process.exit());
