import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { format } from 'node:util';
import type { Context } from 'aws-lambda';
import { tell } from '../cli/output.ts';
import { type TableDefinition, tables } from '../stages/tables.ts';

// What Lambda's Node.js runtime provides: variables, globals, a console, a context and a response stream. The benchmark
// measures from here on, so this loads no contract and no schemas.

/** SDK settings that would direct the functions to another endpoint or to other credentials. */
const misleading = [
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_USE_DUALSTACK_ENDPOINT',
  'AWS_USE_FIPS_ENDPOINT',
];

/** Sets the variables that Lambda sets for a function. Call it before the functions are imported. */
export function setFunctionEnvironment(endpoint: string, documentationAddress: string): void {
  for (const name of misleading) delete process.env[name];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    ALLOWED_ORIGINS: '*',
    DOCUMENTATION_ADDRESS: documentationAddress,
  });
  for (const [name, { variable }] of Object.entries<TableDefinition>(tables)) {
    process.env[variable] = name;
  }
}

/**
 * Defines the global of Lambda's Node.js runtime, with the parts that streaming functions use:
 * https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html
 * Functions look for it when they are imported.
 */
export function defineAwslambda(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: (handler: unknown) => handler,
      HttpResponseStream: {
        from(stream: Writable, prelude: ResponsePrelude): Writable {
          preludes.set(stream, prelude);
          return stream;
        },
      },
    },
  });
}

/** The arguments of `awslambda.HttpResponseStream.from` for a response. */
interface ResponsePrelude {
  readonly statusCode?: number;
  readonly headers?: Record<string, string>;
}

const preludes = new WeakMap<Writable, ResponsePrelude>();

/** Adds the invocation's id to what it logs. */
export const requestIds = new AsyncLocalStorage<string>();

/**
 * Makes `console` write in Lambda's JSON log format, to standard error:
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
 */
export function useLambdaConsole(): void {
  const levels = { info: 'INFO', log: 'INFO', warn: 'WARN', error: 'ERROR' } as const;
  const writeBigInt = (_: string, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value;
  for (const [method, level] of Object.entries(levels)) {
    console[method as keyof typeof levels] = (...values: unknown[]) => {
      const [first, ...rest] = values;
      // One plain object stays an object; anything else becomes text.
      const isPlain = typeof first === 'object' && !(first instanceof Error) && rest.length === 0;
      const message = isPlain ? first : format(...values);
      const timestamp = new Date().toISOString();
      const line = { timestamp, level, requestId: requestIds.getStore(), message };
      tell(JSON.stringify(line, writeBigInt));
    };
  }
}

/** The context that Lambda passes to a function. */
export function toLambdaContext(
  functionName: string,
  awsRequestId: string,
  timeoutMilliseconds: number,
): Context {
  const deadline = Date.now() + timeoutMilliseconds;
  return {
    awsRequestId,
    functionName,
    functionVersion: '$LATEST',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  } as Context;
}

/**
 * The response stream of a streaming function. The first write sends status and headers. A write is done when the
 * client's connection has accepted it. If it is destroyed after that, it breaks the connection, so that no client takes
 * a truncated body for the whole.
 */
export function defineResponseStream(response: ServerResponse): Writable {
  /** Sends status and headers first, and reports an error of that or of `act` to the stream. */
  function send(done: (error: Error) => void, act: () => void): void {
    try {
      const prelude = preludes.get(stream);
      if (!prelude) throw new Error('The function wrote before it set a status and headers.');
      if (!response.headersSent) {
        response.writeHead(prelude.statusCode ?? 200, prelude.headers);
        response.flushHeaders();
      }
      act();
    } catch (error) {
      done(error as Error);
    }
  }

  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      send(done, () => (chunk.length === 0 ? done() : response.write(chunk, toDone(done))));
    },
    final(done) {
      send(done, () => response.end(toDone(done)));
    },
    destroy(error, done) {
      if (response.headersSent && !response.writableEnded) response.destroy();
      done(error);
    },
  });
  // The caller of the function gets the error from its promise.
  stream.on('error', () => {});
  const leave = () => {
    if (!response.writableFinished) stream.destroy(new ClientLeft());
  };
  if (response.closed) leave();
  response.once('close', leave);
  return stream;
}

/** The client has closed the connection. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}

/** A write reports a broken connection sooner than its close event. */
function toDone(done: (error?: Error) => void): (error?: Error | null) => void {
  return (error) => done(error ? new ClientLeft() : undefined);
}
