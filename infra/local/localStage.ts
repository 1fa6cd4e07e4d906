import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { apiVersion } from '../../shared/contract/operation.ts';
import { defineKeyRegister } from '../../shared/keys/keyRegister.ts';
import { defineAwslambda } from './awslambda.ts';
import { createTables } from './createTables.ts';
import { defineDocumentation } from './documentation.ts';
import type { Engine, EngineOptions, StartEngine } from './engine/engine.ts';
import { listen } from './engine/listen.ts';
import { defineDrain } from './gateway/drain.ts';
import { defineGateway, type Service } from './gateway/gateway.ts';
import type { Rehearsal } from './gateway/rehearsal.ts';
import { setFunctionEnvironment } from './lambda/functionEnvironment.ts';
import { importHandler, type LoadHandler, loadFunctions } from './lambda/lambdaFunction.ts';
import { loadData } from './loadData.ts';
import { hasLocalKey, replaceLocalKey } from './localKey.ts';
import type { StoreData } from './storeData.ts';

/** The service on this machine. */
export interface LocalStage {
  /** The base address, which ends in `/v1`. */
  readonly baseUrl: string;
  /** Without a slash at the end. */
  readonly documentationAddress: string;
  /** A key with write permission. */
  readonly apiKey: string;
  /** A key that allows reading alone. */
  readonly readKey: string;
  /** Where the engine speaks DynamoDB. */
  readonly engineEndpoint: string;
  /** Aborted when the engine ends before the stage does; the reason says so in one line. */
  readonly engineCrash: AbortSignal;
  /** Answers the requests under way, then ends the engine. */
  close(): Promise<void>;
}

export interface LocalStageOptions extends EngineOptions {
  /** 0 lets the system pick one. */
  readonly port: number;
  /** What to put into the tables. */
  readonly data: StoreData;
  /** Puts the data only where no earlier run finished its start. */
  readonly onlyIfNew?: boolean;
  /** The engine is closed with the stage. */
  readonly startEngine: StartEngine;
  /** A handler, or a module that exports one as `handler`; by default those in `functions/`. */
  readonly loadHandler?: LoadHandler;
  /** Errors and delays to try clients with; none by default. */
  readonly rehearsal?: Rehearsal;
  /** Ends a start that is under way, which then rejects. */
  readonly signal?: AbortSignal;
  /** Is told how many entries of the data are in the tables. */
  readonly onProgress?: (done: number) => void;
}

/**
 * Starts the stage and fills its tables. A process can have one, since the functions read the
 * environment when they are imported.
 * @throws {StartFailure} when a port or the folder cannot be used
 */
export async function startLocalStage(options: LocalStageOptions): Promise<LocalStage> {
  const service = Promise.withResolvers<Service>();
  const gateway = defineGateway(service.promise, options.rehearsal);
  const drain = defineDrain(gateway);
  // First, since loading data is in vain when the port is in use.
  const port = await listen(gateway, options.port, '--port');
  const baseUrl = `http://127.0.0.1:${port}/${apiVersion}`;
  let engine: Engine | undefined;
  try {
    engine = await options.startEngine(options);
    const { crash: engineCrash = new AbortController().signal } = engine;
    const documentationAddress = new URL('/docs', baseUrl).href;
    setFunctionEnvironment(engine.endpoint, documentationAddress);
    const signals = [engineCrash, ...(options.signal ? [options.signal] : [])];
    const keys = await fillTables({ ...options, signal: AbortSignal.any(signals) });
    defineAwslambda();
    const functions = await loadFunctions(options.loadHandler ?? importHandler);
    const answerBeside = defineDocumentation({ baseUrl, documentationAddress, ...keys });
    service.resolve({ functions, documentationAddress, answerBeside });
    const close = async () => {
      await drain();
      await engine?.close();
    };
    let closed: Promise<void> | undefined;
    return {
      baseUrl,
      documentationAddress,
      ...keys,
      engineEndpoint: engine.endpoint,
      engineCrash,
      close() {
        closed ??= close();
        return closed;
      },
    };
  } catch (error) {
    gateway.closeAllConnections();
    await drain();
    await engine?.close();
    throw error;
  }
}

/** @returns the API keys, of which that to write is made last: its presence says that the tables are filled */
async function fillTables({
  data,
  onlyIfNew,
  signal,
  onProgress,
}: LocalStageOptions): Promise<Pick<LocalStage, 'apiKey' | 'readKey'>> {
  const client = new DynamoDBClient({});
  try {
    await createTables(client);
    const keys = defineKeyRegister(client, 'apiKeys');
    if (!(onlyIfNew && (await hasLocalKey(keys)))) {
      await loadData(client, data, { signal, onProgress });
    }
    const readKey = await replaceLocalKey(keys, 'read');
    return { readKey, apiKey: await replaceLocalKey(keys, 'write') };
  } finally {
    client.destroy();
  }
}
