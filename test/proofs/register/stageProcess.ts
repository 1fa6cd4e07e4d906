import { useLambdaConsole } from '../../../infra/local/lambda/lambdaRuntime.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { readStoreData } from '../../../infra/local/storeData.ts';

/** The local stage on an engine that runs already, whose endpoint is the argument. */
const [endpoint = ''] = process.argv.slice(2);
useLambdaConsole();
const { baseUrl, apiKey } = await startLocalStage({
  port: 0,
  data: await readStoreData(new URL('../../../infra/local/sample.json', import.meta.url)),
  onlyIfNew: true,
  startEngine: async () => ({ endpoint, close: async () => {} }),
});
process.stdout.write(`Base address: ${baseUrl}\nAPI key: ${apiKey}\n`);
