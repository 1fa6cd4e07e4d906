import { once } from 'node:events';
import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { Duplex, PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { WholeResponse } from '../../../infra/docs/openapi/responseProblems.ts';
import type { StartEngine } from '../../../infra/local/engine/engine.ts';
import { invoke } from '../../../infra/local/gateway/invoke.ts';
import {
  type LambdaFunction,
  type LoadModule,
  loadFunctions,
} from '../../../infra/local/lambdaFunction.ts';
import { useLambdaConsole } from '../../../infra/local/lambdaRuntime.ts';
import { startLocalStage } from '../../../infra/local/localStage.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyRegister } from '../../../shared/keys/keyRegister.ts';
import { fixtures } from '../../conformance/target.ts';
import type { EventCase, FuzzCase, SocketCase } from './cases.ts';

export type Entry = Record<string, AttributeValue>;
export type Handler = (...values: never[]) => Promise<unknown>;

export type FuzzTarget = Awaited<ReturnType<typeof openFuzzTarget>>;

export const petIds = fixtures.inventory.map(({ petId }) => petId.toString());

/** A local stage with the conformance suite's data, in this process. */
export async function openFuzzTarget(startEngine: StartEngine, loadModule: LoadModule) {
  let running = 0;
  const loadCounted: LoadModule = async (id) => {
    const { handler } = await loadModule(id);
    const end = () => {
      running -= 1;
    };
    return {
      handler(...values) {
        running += 1;
        return handler(...values).finally(end);
      },
    };
  };
  const stage = await startLocalStage({
    port: 0,
    data: fixtures,
    startEngine,
    loadModule: loadCounted,
  });
  const counted = await loadFunctions(loadCounted);
  const client = new DynamoDBClient({ endpoint: stage.engineEndpoint });
  const keys = await createKeys(client);

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
    /** The inventory as it is now, by petId. */
    async readEntries(): Promise<ReadonlyMap<string, Entry>> {
      return new Map((await scan('inventory')).map((entry) => [entry.p?.N ?? '', entry]));
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
  status = 0;
  readonly headers = new Headers();

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    this.status = status;
    for (const [name, value] of Object.entries(headers)) {
      for (const line of [value].flat()) this.headers.append(name, String(line));
    }
    return this;
  }
}

export type CapturedLog = ReturnType<typeof captureLog>;

/** Makes `console` write as Lambda's does, and keeps what this process writes, until it is disposed. */
export function captureLog() {
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

/** The outcome of a case: a response, a problem instead, or neither if its client left. */
export interface Outcome {
  readonly one: FuzzCase;
  readonly response?: WholeResponse;
  readonly problem?: string;
}

/** How long broken requests may wait for more bytes after the other requests of their batch have their responses. */
const GIVE_UP_MILLISECONDS = 30;

export async function send(
  target: FuzzTarget,
  cases: readonly FuzzCase[],
  deadlineMilliseconds: number,
): Promise<Outcome[]> {
  const giveUp = new AbortController();
  const expired = Promise.withResolvers<never>();
  const late = new Error('no response by the deadline');
  const timer = setTimeout(() => expired.reject(late), deadlineMilliseconds);

  async function sendOne(one: FuzzCase): Promise<Outcome> {
    try {
      const sending =
        one.transport === 'event' ? target.call(one) : exchange(target.port, one, giveUp.signal);
      const response = await Promise.race([sending, expired.promise]);
      return response ? { one, response } : { one };
    } catch (error) {
      if (error === late) return { one, problem: `deadline: ${late.message}` };
      const { stack = '' } = error as Error;
      return { one, problem: `status: the ${one.transport} failed: ${stack.slice(0, 600)}` };
    }
  }

  const isBroken = (one: FuzzCase) => one.transport === 'socket' && one.framing !== 'whole';
  const broken = Promise.all(cases.filter(isBroken).map(sendOne));
  const sound = await Promise.all(cases.filter((one) => !isBroken(one)).map(sendOne));
  await Promise.race([broken, pause(GIVE_UP_MILLISECONDS)]);
  giveUp.abort();
  const outcomes = [...sound, ...(await broken)];
  clearTimeout(timer);
  return outcomes;
}

/**
 * Sends the bytes on a connection of their own, and reads the first response.
 * @param giveUp ends the client's side of a `broken` case, which may claim to be longer than it is
 * @returns nothing if the client left before its response
 * @throws {Error} if the response is invalid HTTP, or the connection ended without one
 */
async function exchange(
  port: number,
  { chunks, framing }: SocketCase,
  giveUp: AbortSignal,
): Promise<WholeResponse | undefined> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  // Node.js's own client parses the response. Its own request is dropped, and the case's bytes are sent unchanged.
  const wire = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  socket.on('data', (chunk) => wire.push(chunk));
  // After a reset, the bytes received until then count.
  socket.on('error', () => {}).on('close', () => wire.push(null));
  let hasLeft = false;
  const leave = () => {
    hasLeft = true;
    socket.end();
  };
  giveUp.addEventListener('abort', leave);
  const method = chunks[0]?.toString().startsWith('HEAD ') ? 'HEAD' : 'GET';
  const response = readResponse(method, wire);
  response.catch(() => {});
  try {
    for (const chunk of chunks) {
      socket.write(chunk);
      // Several chunks go in separate packets.
      if (chunks.length > 1) await pause(0);
    }
    if (framing === 'half') leave();
    if (framing === 'left') return void (await pause(1));
    return await response;
  } catch (error) {
    if (hasLeft) return undefined;
    throw error;
  } finally {
    giveUp.removeEventListener('abort', leave);
    socket.destroy();
  }
}

async function readResponse(method: string, wire: Duplex): Promise<WholeResponse> {
  const reading = request({ method, createConnection: () => wire }).end();
  // Bytes after the response are ignored.
  reading.on('error', () => {});
  const [response] = (await once(reading, 'response')) as [IncomingMessage];
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return { status: response.statusCode ?? 0, headers, bytes: await buffer(response) };
}
