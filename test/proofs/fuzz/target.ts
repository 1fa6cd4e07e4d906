import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchGetItemCommand,
  DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { defineKeyRegister } from '../../../infra/cli/keyRegister.ts';
import type { StartEngine } from '../../../infra/local/engine/engine.ts';
import { invoke } from '../../../infra/local/gateway/invoke.ts';
import {
  type LambdaFunction,
  type LoadHandler,
  loadFunctions,
  useLambdaConsole,
} from '../../../infra/local/lambdaRuntime.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import type { WholeResponse } from '../../../infra/openapi/responseProblems.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { fixtures } from '../../conformance/target.ts';
import type { EventCase } from './cases.ts';

export type Entry = Record<string, AttributeValue>;
export type Handler = (...values: never[]) => Promise<unknown>;

export type FuzzTarget = Awaited<ReturnType<typeof openFuzzTarget>>;

export const petIds = fixtures.inventory.map(({ petId }) => petId.toString());

/** A local stage with the conformance suite's data, in this process. */
export async function openFuzzTarget(startEngine: StartEngine, loadModule: LoadHandler) {
  let running = 0;
  const loadCounted: LoadHandler = async (id) => {
    const { handler } = (await loadModule(id)) as { handler: Handler };
    return async (...values: never[]) => {
      running += 1;
      try {
        return await handler(...values);
      } finally {
        running -= 1;
      }
    };
  };
  const stage = await startLocalStage({
    port: 0,
    data: fixtures,
    startEngine,
    loadHandler: loadCounted,
  });
  const counted = await loadFunctions(loadCounted);
  const client = new DynamoDBClient({ endpoint: stage.engineEndpoint });
  const keys = await createKeys(client);
  const Keys = petIds.map((petId) => ({ p: { N: petId } }));

  async function scan(TableName: string): Promise<Entry[]> {
    const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
    return Items;
  }

  return {
    port: Number(new URL(stage.baseUrl).port),
    /** By the name in a request's placeholder, such as `write0`. */
    keys,
    secrets: [...keys.values()].flatMap((apiKey) => parseApiKey(apiKey)?.secret ?? []),
    /** The tags in responses to updates, in any run: a repeated update gets the tag of its first response. */
    respondedTags: new Set<string>(),
    /**
     * Calls a function with an event as the local gateway does, without a connection.
     * @throws the function's error, or an error about its result
     */
    async call({ request, event }: EventCase): Promise<WholeResponse> {
      const called = counted.find(({ operation }) => operation.operationId === request.operationId);
      const response = new CollectedResponse();
      const body = buffer(response);
      await invoke(called as LambdaFunction, event, response as unknown as ServerResponse);
      const { status, headers } = response;
      return { status, headers, bytes: await body };
    },
    /** Waits until no function runs. @returns whether that was in time */
    async waitForFunctions(deadlineMilliseconds: number): Promise<boolean> {
      const started = performance.now();
      while (running > 0 && performance.now() - started < deadlineMilliseconds) await pause(1);
      return running === 0;
    },
    /** The stage's first inventory entries as they are now, by petId. */
    async readEntries(): Promise<ReadonlyMap<string, Entry>> {
      // A batch, since the embedded engine leaks some memory at each scan.
      const { Responses } = await client.send(
        new BatchGetItemCommand({ RequestItems: { inventory: { Keys, ConsistentRead: true } } }),
      );
      return new Map(Responses?.inventory?.map((entry) => [entry.p?.N ?? '', entry]));
    },
    /** The ids of all entries, and the tables that no operation writes to. */
    async readOthers(): Promise<unknown> {
      const ids = (await scan('inventory')).map(({ p }) => p?.N).sort();
      return [ids, await scan('pets'), await scan('orders'), await scan('apiKeys')];
    },
    async close() {
      client.destroy();
      await stage.close();
    },
  };
}

async function createKeys(client: DynamoDBClient): Promise<Map<string, string>> {
  const register = defineKeyRegister(client, 'apiKeys');
  const keys = new Map<string, string>();
  for (const name of ['write0', 'write1', 'write2', 'write3', 'read0']) {
    const permission = name === 'read0' ? 'read' : 'write';
    keys.set(name, (await register.create({ name, permission })).apiKey);
  }
  for (let index = 0; index < 50; index += 1) keys.set(`unknown${index}`, mintApiKey().apiKey);
  return keys;
}

/** Collects, in place of a connection, what the gateway sends of a function's response. */
class CollectedResponse extends PassThrough {
  headersSent = false;
  status = 0;
  readonly headers = new Headers();

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    this.headersSent = true;
    this.status = status;
    for (const [name, value] of Object.entries(headers)) {
      for (const line of [value].flat()) this.headers.append(name, String(line));
    }
    return this;
  }

  flushHeaders(): void {}
}

/** The output of this process, captured from its standard streams. */
export interface CapturedLog extends Disposable {
  take(): readonly string[];
}

/** Makes `console` write as Lambda's does, and keeps the writes, until it is disposed. */
export function captureLog(): CapturedLog {
  const written: string[] = [];
  const own = { ...console };
  const streams = [process.stdout, process.stderr].map((stream) => [stream, stream.write] as const);
  for (const [stream] of streams) stream.write = (text: unknown) => written.push(String(text)) > 0;
  useLambdaConsole();
  return {
    take: () => written.splice(0),
    [Symbol.dispose]() {
      for (const [stream, write] of streams) stream.write = write;
      Object.assign(console, own);
    },
  };
}

const crashEvents = ['uncaughtException', 'unhandledRejection'] as const;

/** Reports uncaught errors, as their only listener, until it is disposed: Lambda would have ended the process. */
export function catchCrashes(onCrash: (error: unknown) => void): Disposable {
  const others = crashEvents.map((event) => [event, process.listeners(event as never)] as const);
  for (const event of crashEvents) process.removeAllListeners(event).on(event, onCrash);
  return {
    [Symbol.dispose]() {
      for (const [event, listeners] of others) {
        process.removeAllListeners(event);
        for (const listener of listeners) process.on(event, listener as never);
      }
    },
  };
}
